import { type Answer, DetachedError, type Message, type Question } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { memo, useMemo, useRef } from 'react';
import { formatJson } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { RunError } from '../../ui/run-error.tsx';
import { OtherModelButton } from '../runs/other-model-button.tsx';
import { getDuration } from '../runs/run-state.ts';
import { useChanges } from './changes.ts';
import { Figures } from './figures.tsx';
import type { LiveRun } from './live-run.ts';
import { Parts, PartsRunContext } from './parts.tsx';
import { Questions } from './questions.tsx';
import { type RefusedActions, RefusedNotice } from './refused-notice.tsx';
import { endedRunQuery, runPartsQuery } from './run-content.ts';
import { type Part, type PartList, storedParts } from './run-parts.ts';
import { SentView } from './sent-view.tsx';
import { StopNotice } from './stop-notice.tsx';
import { canResend, getRunId, type Turn } from './turn.ts';
import { useIsSeen } from './use-is-seen.ts';

/** What a person can do with the turns of a chat. */
export interface TurnActions extends RefusedActions {
  readonly onAnswer: (answers: readonly Answer[]) => void;
  /** Both send a message in a copy of the chat that ends before it. Null if there are two columns. */
  readonly resending: {
    readonly onEdit: (turn: Turn) => void;
    readonly onRegenerate: (turn: Turn) => void;
    /** True until the copy exists. */
    readonly isResending: boolean;
  } | null;
}

interface TurnViewProps {
  readonly integration: string;
  readonly turn: Turn;
  /** True if no run followed. */
  readonly isLast: boolean;
  /** The open questions of the turn. */
  readonly pending: readonly Question[];
  /** Null if the chat is only read. */
  readonly actions: TurnActions | null;
}

/** A message and its answer, live or stored. A finished turn is not rendered again. */
export const TurnView = memo(function TurnView({ integration, turn, isLast, pending, actions }: TurnViewProps) {
  const { message, live, stored } = turn;
  const resending = canResend(turn) ? (actions?.resending ?? null) : null;
  const shared = { integration, turn, pending, actions: isLast ? actions : null };
  return (
    <>
      <SentView
        integration={integration}
        message={message}
        actions={
          resending !== null && (
            <button type="button" className="button button-small button-quiet" onClick={() => resending.onEdit(turn)}>
              Edit
            </button>
          )
        }
      />
      {live !== null && <LiveAnswer {...shared} live={live} />}
      {live === null && stored !== null && <StoredAnswer {...shared} message={stored} />}
    </>
  );
});

interface AnswerProps {
  readonly integration: string;
  readonly turn: Turn;
  readonly pending: readonly Question[];
  /** Null if a later turn exists, or the chat is only read. */
  readonly actions: TurnActions | null;
}

const NO_CALLS: Message['calls'] = [];

function LiveAnswer({ integration, turn, pending, actions, live }: AnswerProps & { readonly live: LiveRun }) {
  useChanges(live.changes);
  const { result, error, runId, usageRequestId, content, isActive, isNew } = live;
  // The page has no times of a run that was started elsewhere.
  const { data: run } = useQuery({ ...endedRunQuery(integration, runId), enabled: result !== null && !isNew });
  const partsRun = useMemo(
    () => ({ integration, runId, isActive, calls: NO_CALLS, pending }),
    [integration, runId, isActive, pending],
  );
  const isRefused = error !== null && !(error instanceof DetachedError);
  return (
    <article className="answer" aria-label="Answer">
      <AnswerTitle list={content.root} agent={null} />
      <PartsRunContext value={partsRun}>
        <Parts list={content.root} />
      </PartsRunContext>
      {isActive && <Waiting live={live} />}
      <StopNotice live={live} />
      {isRefused && <RefusedNotice error={error} turn={turn} actions={actions} />}
      <Outcome {...{ integration, turn, pending, actions }} error={result?.error} output={result?.output} />
      {result !== null && runId !== null && (
        <Figures
          run={{ apiIntegrationId: integration, runId }}
          status={pending.length > 0 ? 'waiting' : result.status}
          charged={{
            apiIntegrationId: integration,
            runId,
            usageRequestId,
            createdAt: run?.createdAt ?? null,
            status: result.status,
          }}
          firstTokenMs={isNew ? live.firstTokenMs : null}
          totalMs={isNew ? live.totalMs : null}
          durationMs={run === undefined ? null : getDuration(run)}
          usage={result.usage}
          text={result.text}
          actions={<AgainButtons integration={integration} turn={turn} actions={actions} />}
        />
      )}
    </article>
  );
}

function StoredAnswer(props: AnswerProps & { readonly message: Message }) {
  const { integration, turn, pending, actions, message } = props;
  const { runId, agent, status, error, content, calls } = message;
  const box = useRef<HTMLElement>(null);
  const enabled = useIsSeen(box) && runId !== null;
  const { data: parts, error: partsError, refetch } = useQuery({ ...runPartsQuery(integration, message), enabled });
  const { data: run } = useQuery({ ...endedRunQuery(integration, runId), enabled });
  const summary = useMemo(() => storedParts(message), [message]);
  const partsRun = useMemo(
    () => ({ integration, runId, isActive: false, calls, pending }),
    [integration, runId, calls, pending],
  );
  const list = parts?.root ?? summary;
  return (
    <article ref={box} className="answer" aria-label="Answer">
      <AnswerTitle list={list} agent={agent} />
      <PartsRunContext value={partsRun}>
        <Parts key={list === summary ? 'summary' : 'whole'} list={list} />
      </PartsRunContext>
      {list.parts.length === 0 && error === null && <p className="part-line">The run ended without text.</p>}
      {partsError !== null && <ErrorNotice error={partsError} onRetry={() => void refetch()} />}
      {parts === null && (
        <p className="part-line">What the agents did was deleted with the chat in which the run was made.</p>
      )}
      <Outcome {...{ integration, turn, pending, actions }} error={error} output={run?.output} />
      <Figures
        run={{ apiIntegrationId: integration, runId }}
        status={pending.length > 0 ? 'waiting' : status}
        charged={run ?? null}
        firstTokenMs={null}
        totalMs={null}
        durationMs={run === undefined ? null : getDuration(run)}
        usage={run?.usage ?? null}
        text={content}
        actions={<AgainButtons integration={integration} turn={turn} actions={actions} />}
      />
    </article>
  );
}

interface OutcomeProps extends AnswerProps {
  readonly error: Message['error'] | undefined;
  readonly output: unknown;
}

/** Asks for the last answer again, in a copy of the chat: the same model, or another one. */
function AgainButtons({ integration, turn, actions }: Pick<AnswerProps, 'integration' | 'turn' | 'actions'>) {
  const resending = actions?.resending ?? null;
  if (resending === null || !canResend(turn)) return null;
  const runId = getRunId(turn);
  return (
    <>
      <button
        type="button"
        className="button button-small"
        disabled={resending.isResending}
        onClick={() => resending.onRegenerate(turn)}
      >
        {resending.isResending ? 'Regenerating…' : 'Regenerate'}
      </button>
      {runId !== null && <OtherModelButton run={{ apiIntegrationId: integration, runId }} />}
    </>
  );
}

/** How a run ended: its error, its structured output, its questions. */
function Outcome({ integration, error, output, turn, pending, actions }: OutcomeProps) {
  return (
    <>
      {error != null && <RunError error={error} {...(actions !== null && { onAgain: () => actions.onAgain(turn) })} />}
      {output != null && <JsonView text={formatJson(output)} label="structured output" isRepeated />}
      {actions !== null && pending.length > 0 && (
        <Questions integration={integration} questions={pending} onAnswer={actions.onAnswer} />
      )}
    </>
  );
}

/** The agent that began the answer. */
function AnswerTitle({ list, agent }: { readonly list: PartList; readonly agent: string | null }) {
  useChanges(list.changes);
  const first = findFirstAgent(list.parts) ?? agent;
  return <h2 className="answer-title">{first === null ? 'Answer' : <bdi>{first}</bdi>}</h2>;
}

/** A hand-off names the agent too, if it has written nothing. */
function findFirstAgent(parts: readonly Part[]): string | null {
  for (const part of parts) {
    if ('agent' in part) return part.agent;
    if (part.kind === 'handoff') return part.from;
  }
  return null;
}

/** Is at the answer's place until its first part arrives. */
function Waiting({ live }: { readonly live: LiveRun }) {
  useChanges(live.content.root.changes);
  if (live.content.root.parts.length > 0) return null;
  return <p className="part-line">{toWaitingText(live)}</p>;
}

function toWaitingText({ runId, isDelayed }: LiveRun): string {
  if (runId !== null) return 'Thinking…';
  if (!isDelayed) return 'Waiting for the server…';
  return 'The server has not accepted the message yet. It is sent again by itself, for up to 2 minutes.';
}
