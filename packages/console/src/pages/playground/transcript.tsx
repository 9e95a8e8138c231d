import type { Agency, Answer, RunListItem } from '@runwire/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type RefObject, useLayoutEffect, useRef } from 'react';
import { api } from '../../app/api.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { useChanges } from './changes.ts';
import type { Conversation } from './conversation.ts';
import type { RefusedActions } from './refused-notice.tsx';
import { TurnView } from './turn-view.tsx';

interface TranscriptProps {
  readonly conversation: Conversation;
  readonly agent: Agency['agents'][number] | undefined;
  readonly actions: RefusedActions;
  readonly onAnswer: (answers: readonly Answer[]) => void;
  readonly onStarter: (text: string) => void;
}

export function Transcript({ conversation, agent, actions, onAnswer, onStarter }: TranscriptProps) {
  useChanges(conversation.changes);
  const { apiIntegrationId, turns, isLoading, error } = conversation;
  const { data: runs = NO_RUNS, isLoading: areRunsLoading } = useStoredRuns(conversation);
  if (areRunsLoading || (isLoading && turns.length === 0)) return <Loading what="the chat" />;
  const notice = error !== null && <ErrorNotice error={error} onRetry={() => void conversation.load()} />;
  if (turns.length === 0) return notice || <Start agent={agent} onStarter={onStarter} />;
  // Messages that the server refused may follow its chat's last message.
  const last = turns.findLastIndex(({ runId, live }) => runId !== null || live?.isActive || live?.runId != null);
  return (
    <>
      <Earlier conversation={conversation} />
      {turns.map((turn, index) => (
        <TurnView
          key={turn.key}
          turn={turn}
          isLast={index >= last}
          run={turn.runId === null ? undefined : runs.get(turn.runId)}
          apiIntegrationId={apiIntegrationId}
          onAnswer={onAnswer}
          {...actions}
        />
      ))}
      {notice}
    </>
  );
}

const NO_RUNS: ReadonlyMap<string, RunListItem> = new Map();

const RUNS_PER_PAGE = 200;

/** Times and tokens of answers that this page did not see. */
function useStoredRuns({ apiIntegrationId, chatId, turns }: Conversation) {
  const count = RUNS_PER_PAGE * Math.ceil(turns.length / RUNS_PER_PAGE);
  return useQuery({
    queryKey: ['runs', apiIntegrationId, 'of chat', chatId, count],
    queryFn: async ({ signal }) => {
      const runs = new Map<string, RunListItem>();
      for await (const run of api().runs.list(
        { apiIntegrationId, chatId, texts: false, limit: RUNS_PER_PAGE },
        { signal },
      )) {
        runs.set(run.runId, run);
        if (runs.size === count) break;
      }
      return runs;
    },
    enabled: turns.some(({ runId }) => runId !== null),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
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

function Start({ agent, onStarter }: Pick<TranscriptProps, 'agent' | 'onStarter'>) {
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
