import type { Agency } from '@runwire/client';
import { type RefObject, useLayoutEffect, useRef } from 'react';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { useChanges } from '../transcript/changes.ts';
import type { Conversation } from '../transcript/conversation.ts';
import { getRunId, NO_QUESTIONS } from '../transcript/turn.ts';
import { type TurnActions, TurnView } from '../transcript/turn-view.tsx';

interface ConversationViewProps {
  readonly conversation: Conversation;
  readonly agent: Agency['agents'][number] | undefined;
  readonly actions: TurnActions;
  readonly onStarter: (text: string) => void;
}

/** The playground's turns, with what the person can do with them. */
export function ConversationView({ conversation, agent, actions, onStarter }: ConversationViewProps) {
  useChanges(conversation.changes);
  // The questions of a run that this page reads arrive with its end.
  useChanges(conversation.live?.changes);
  const { apiIntegrationId, turns, pending, isLoading, error } = conversation;
  if (isLoading && turns.length === 0) return <Loading what="the chat" />;
  const notice = error !== null && <ErrorNotice error={error} onRetry={() => void conversation.load()} />;
  if (turns.length === 0) return notice || <Start agent={agent} onStarter={onStarter} />;
  // Messages that the server refused may follow its chat's last message.
  const last = turns.findLastIndex((turn) => getRunId(turn) !== null || turn.stored !== null || turn.live?.isActive);
  return (
    <>
      <Earlier conversation={conversation} />
      {turns.map((turn, index) => (
        <TurnView
          key={turn.key}
          integration={apiIntegrationId}
          turn={turn}
          isLast={index >= last}
          pending={index === last ? pending : NO_QUESTIONS}
          actions={actions}
        />
      ))}
      {notice}
    </>
  );
}

/** Is before the first turn. */
function Earlier({ conversation }: { readonly conversation: Conversation }) {
  const { earlierCursor, isLoadingEarlier, earlierError } = conversation;
  const box = useRef<HTMLDivElement>(null);
  useKeepNext(box);
  const load = () => void conversation.loadEarlier();
  return (
    <div ref={box} hidden={earlierCursor === null}>
      {earlierError !== null ? (
        <ErrorNotice error={earlierError} onRetry={load} />
      ) : (
        <button type="button" className="button button-small" aria-disabled={isLoadingEarlier} onClick={load}>
          {isLoadingEarlier ? 'Loading…' : 'Load earlier messages'}
        </button>
      )}
    </div>
  );
}

/** What follows the element stays at its place in the window when something is inserted between them. */
function useKeepNext(box: RefObject<HTMLElement | null>): void {
  const next = useRef<{ readonly element: Element; readonly top: number }>(null);
  useLayoutEffect(() => {
    const element = box.current?.nextElementSibling ?? null;
    const before = next.current;
    if (before !== null && before.element !== element && before.element.isConnected) {
      window.scrollBy({ top: measureTop(before.element) - before.top, behavior: 'instant' });
    }
    next.current = element === null ? null : { element, top: measureTop(element) };
  });
}

const measureTop = (element: Element) => element.getBoundingClientRect().top + window.scrollY;

function Start({ agent, onStarter }: Pick<ConversationViewProps, 'agent' | 'onStarter'>) {
  const starters = agent?.starters ?? [];
  return (
    <EmptyState title={agent === undefined ? 'New chat' : `New chat with ${agent.name}`}>
      {agent?.description != null && (
        <p>
          <bdi>{agent.description}</bdi>
        </p>
      )}
      <p>Write a message below{starters.length > 0 && ', or begin with one of these'}.</p>
      {starters.length > 0 && (
        <div className="row">
          {starters.map((text) => (
            <button key={text} type="button" className="button starter" onClick={() => onStarter(text)}>
              {text}
            </button>
          ))}
        </div>
      )}
    </EmptyState>
  );
}
