import type { Message } from '@runwire/client';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { PagedList } from '../../app/paged-list.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { MessageItem } from './message-item.tsx';

interface MessageListProps {
  readonly integration: string;
  /** As the API has it: newest first. */
  readonly list: PagedList<Message>;
  /** True if the last run asked, and waits for an answer. */
  readonly isAsking: boolean;
}

const ESTIMATED_PX = 120;
/** Older messages are read when this many are left above the page. */
const MESSAGES_AHEAD = 15;

/** Only the messages in view are in the document. What is in view does not move when older ones arrive. */
export function MessageList({ integration, list, isAsking }: MessageListProps) {
  const { rows, hasMore, isLoadingMore, error, loadMore, retry } = list;
  const messages = useMemo(() => rows.toReversed(), [rows]);
  const box = useRef<HTMLOListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (box.current !== null) setTop(box.current.getBoundingClientRect().top + window.scrollY);
  });
  const virtualizer = useWindowVirtualizer({
    count: messages.length,
    estimateSize: () => ESTIMATED_PX,
    getItemKey: (index) => messages[index]?.messageId ?? index,
    anchorTo: 'end',
    followOnAppend: true,
    overscan: 6,
    scrollMargin: top,
  });
  const totalSize = virtualizer.getTotalSize();
  useOpenAtEnd(totalSize + top);
  const inView = virtualizer.getVirtualItems();
  const firstIndex = inView[0]?.index ?? messages.length;
  const needsMore = hasMore && !isLoadingMore && error === null && firstIndex < MESSAGES_AHEAD;
  useEffect(() => {
    if (needsMore) loadMore();
  }, [needsMore, loadMore]);
  return (
    <>
      {error === null ? (
        <p className="small muted" role="status">
          {hasMore ? 'Older messages are read when you scroll up.' : 'The chat begins here.'}
        </p>
      ) : (
        <ErrorNotice error={error} onRetry={retry} />
      )}
      <ol ref={box} className="messages" aria-label="Messages" style={{ height: totalSize }}>
        {inView.map(({ index, key, start }) => (
          <li
            key={key}
            ref={virtualizer.measureElement}
            data-index={index}
            aria-posinset={index + 1}
            aria-setsize={hasMore ? -1 : messages.length}
            style={{ transform: `translateY(${start - top}px)` }}
          >
            <MessageItem
              integration={integration}
              message={messages[index] as Message}
              asks={index === messages.length - 1 ? isAsking : isAnswer(messages[index + 1])}
            />
          </li>
        ))}
      </ol>
    </>
  );
}

/** A message without text has only answers to the questions of the run before. */
const isAnswer = (message: Message | undefined) => message?.role === 'user' && message.content === '';

const SCROLL_EVENTS = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

/** Keeps the page's end in view while the sizes of the last messages become known, until the person scrolls. */
function useOpenAtEnd(height: number): void {
  const isOpening = useRef(true);
  useEffect(() => {
    const stop = () => {
      isOpening.current = false;
    };
    for (const event of SCROLL_EVENTS) window.addEventListener(event, stop, { once: true, passive: true });
    return () => {
      for (const event of SCROLL_EVENTS) window.removeEventListener(event, stop);
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the page has another end when its height has changed.
  useLayoutEffect(() => {
    if (isOpening.current) window.scrollTo(0, document.documentElement.scrollHeight);
  }, [height]);
}
