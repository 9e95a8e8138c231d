import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { useChanges } from '../transcript/changes.ts';
import type { Conversation } from '../transcript/conversation.ts';
import { NO_QUESTIONS, type Turn } from '../transcript/turn.ts';
import { TurnView } from '../transcript/turn-view.tsx';

const ESTIMATED_PX = 260;
/** Older messages are read when this many turns are left above the page. */
const TURNS_AHEAD = 8;

/** Only the turns in view are in the document. What is in view does not move when older ones arrive. */
export function TurnList({ conversation }: { readonly conversation: Conversation }) {
  useChanges(conversation.changes);
  const { apiIntegrationId, turns, pending, earlierCursor, earlierError, isLoadingEarlier } = conversation;
  const hasMore = earlierCursor !== null;
  const box = useRef<HTMLOListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (box.current !== null) setTop(box.current.getBoundingClientRect().top + window.scrollY);
  });
  const virtualizer = useWindowVirtualizer({
    count: turns.length,
    estimateSize: () => ESTIMATED_PX,
    getItemKey: (index) => turns[index]?.key ?? index,
    anchorTo: 'end',
    followOnAppend: true,
    overscan: 3,
    scrollMargin: top,
  });
  const totalSize = virtualizer.getTotalSize();
  useOpenAtEnd(totalSize + top);
  const inView = virtualizer.getVirtualItems();
  const firstIndex = inView[0]?.index ?? turns.length;
  const needsMore = hasMore && !isLoadingEarlier && earlierError === null && firstIndex < TURNS_AHEAD;
  useEffect(() => {
    if (needsMore) void conversation.loadEarlier();
  }, [needsMore, conversation]);
  return (
    <>
      {earlierError === null ? (
        <p className="small muted" role="status">
          {hasMore ? 'Older messages are read when you scroll up.' : 'The chat begins here.'}
        </p>
      ) : (
        <ErrorNotice error={earlierError} onRetry={() => void conversation.loadEarlier()} />
      )}
      <ol ref={box} className="messages" aria-label="Messages" style={{ height: totalSize }}>
        {inView.map(({ index, key, start }) => (
          <li
            key={key}
            ref={virtualizer.measureElement}
            className="turn"
            data-index={index}
            aria-posinset={index + 1}
            aria-setsize={hasMore ? -1 : turns.length}
            style={{ transform: `translateY(${start - top}px)` }}
          >
            <TurnView
              integration={apiIntegrationId}
              turn={turns[index] as Turn}
              isLast={index === turns.length - 1}
              pending={index === turns.length - 1 ? pending : NO_QUESTIONS}
              actions={null}
            />
          </li>
        ))}
      </ol>
    </>
  );
}

const SCROLL_EVENTS = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

/** Keeps the page's end in view while the sizes of the last turns become known, until the person scrolls. */
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
