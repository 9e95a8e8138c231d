import type { Agency, Answer, RunRecord } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
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
  const { apiIntegrationId, chatId, turns, isLoading, error } = conversation;
  const runs = useStoredRuns(conversation);
  if (isLoading && turns.length === 0) return <Loading what="the chat" />;
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void conversation.load()} />;
  if (turns.length === 0) return <Start agent={agent} onStarter={onStarter} />;
  return (
    <>
      {conversation.earlierCursor !== null && <EarlierButton key={chatId} conversation={conversation} />}
      {turns.map((turn, index) => (
        <TurnView
          key={turn.key}
          turn={turn}
          isLast={index === turns.length - 1}
          run={turn.runId === null ? undefined : runs.get(turn.runId)}
          apiIntegrationId={apiIntegrationId}
          onAnswer={onAnswer}
          {...actions}
        />
      ))}
    </>
  );
}

const NO_RUNS: ReadonlyMap<string, RunRecord> = new Map();

/** Times and tokens of answers that this page did not see. */
function useStoredRuns({ apiIntegrationId, chatId, turns }: Conversation): ReadonlyMap<string, RunRecord> {
  const { data } = useQuery({
    queryKey: ['runs', apiIntegrationId, 'of chat', chatId],
    queryFn: async ({ signal }) => {
      const { items } = await api().runs.list({ apiIntegrationId, chatId, limit: 200 }, { signal }).page();
      return new Map(items.map((run) => [run.runId, run]));
    },
    enabled: turns.some(({ runId }) => runId !== null),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? NO_RUNS;
}

function EarlierButton({ conversation }: { readonly conversation: Conversation }) {
  const [state, setState] = useState<'idle' | 'loading' | Error>('idle');
  const load = () => {
    setState('loading');
    conversation.loadEarlier().then(() => setState('idle'), setState);
  };
  if (state instanceof Error) return <ErrorNotice error={state} onRetry={load} />;
  return (
    <div>
      <button type="button" className="button button-small" aria-disabled={state === 'loading'} onClick={load}>
        {state === 'loading' ? 'Loading…' : 'Load earlier messages'}
      </button>
    </div>
  );
}

function Start({ agent, onStarter }: Pick<TranscriptProps, 'agent' | 'onStarter'>) {
  const starters = agent?.starters ?? [];
  return (
    <EmptyState title="A new chat">
      <p>
        {agent?.description != null && <bdi>{agent.description} </bdi>}
        Write a message below{starters.length > 0 && ', or begin with one of these'}. The chat is stored like every
        other chat of the integration, and its runs count as usage.
      </p>
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
