import { type Answer, DetachedError, type RunListItem } from '@runwire/client';
import { memo } from 'react';
import { formatCount, formatJson } from '../../lib/format.ts';
import { JsonView } from '../../ui/json-view.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { RunError } from '../../ui/run-error.tsx';
import { getDuration, toStatus } from '../runs/run-state.ts';
import { useChanges } from './changes.ts';
import type { Turn } from './conversation.ts';
import { Figures } from './figures.tsx';
import type { LiveRun } from './live-run.ts';
import { Parts } from './parts.tsx';
import { Questions } from './questions.tsx';
import { type RefusedActions, RefusedNotice } from './refused-notice.tsx';
import type { Part } from './run-parts.ts';
import { StopNotice } from './stop-notice.tsx';

interface TurnViewProps extends RefusedActions {
  readonly turn: Turn;
  readonly isLast: boolean;
  /** Times and tokens of a stored answer. */
  readonly run: RunListItem | undefined;
  readonly apiIntegrationId: string;
  readonly onAnswer: (answers: readonly Answer[]) => void;
}

/** A message and its answer. A finished turn is not rendered again. */
export const TurnView = memo(function TurnView({
  turn,
  isLast,
  run,
  apiIntegrationId,
  onAnswer,
  ...actions
}: TurnViewProps) {
  const { live, stored } = turn;
  return (
    <>
      <Sent turn={turn} />
      {live !== null && (
        <FollowedAnswer
          live={live}
          run={run}
          turn={turn}
          onAnswer={isLast ? onAnswer : null}
          actions={isLast ? actions : null}
        />
      )}
      {live === null && stored !== null && (
        <StoredAnswer message={stored} run={run} apiIntegrationId={apiIntegrationId} />
      )}
    </>
  );
});

/** Shows what is stored of an answer until all of its events are read, so that it does not grow from nothing again. */
function FollowedAnswer(props: LiveAnswerProps) {
  const { live, run, turn } = props;
  useChanges(live.changes);
  if (turn.stored === null || !live.isActive) return <LiveAnswer {...props} />;
  return <StoredAnswer message={turn.stored} run={run} apiIntegrationId={live.apiIntegrationId} />;
}

/** A message is shown as it was typed. */
function Sent({ turn: { message } }: { readonly turn: Turn }) {
  const { text, files, images, lostAttachments, answers } = message;
  const attachmentCount = images.length + lostAttachments;
  const decisions = answers.map(({ approve }) =>
    approve === undefined ? 'Output sent' : approve ? 'Approved' : 'Declined',
  );
  if (text === '' && files.length === 0 && attachmentCount === 0 && answers.length === 0) return null;
  return (
    <article className="sent" aria-label="Your message">
      <h2 className="visually-hidden">You</h2>
      {text !== '' && <LongText text={text}>{(shown) => <p className="sent-text">{shown}</p>}</LongText>}
      {decisions.length > 0 && <p>{decisions.join(', ')}</p>}
      {files.length > 0 && (
        <ul className="sent-files" aria-label="Files">
          {files.map(({ path, name }) => (
            <li key={path} title={path}>
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      )}
      {attachmentCount > 0 && (
        <p className="small muted">The model gets {formatCount(attachmentCount, 'attachment')}.</p>
      )}
    </article>
  );
}

interface LiveAnswerProps {
  readonly live: LiveRun;
  readonly run: RunListItem | undefined;
  readonly turn: Turn;
  /** Null if a later turn exists. */
  readonly onAnswer: ((answers: readonly Answer[]) => void) | null;
  readonly actions: RefusedActions | null;
}

function LiveAnswer({ live, run, turn, onAnswer, actions }: LiveAnswerProps) {
  useChanges(live.changes);
  const { apiIntegrationId, result, error, runId, usageRequestId, content } = live;
  const isAsking = onAnswer !== null && result !== null && result.pending.length > 0;
  const isRefused = error !== null && !(error instanceof DetachedError);
  return (
    <article className="answer" aria-label="Answer">
      <AnswerTitle live={live} />
      <Parts list={content.root} />
      {live.isActive && <Waiting live={live} />}
      <StopNotice live={live} />
      {isRefused && <RefusedNotice error={error} turn={turn} actions={actions} />}
      {result?.error != null && (
        <RunError error={result.error} {...(actions !== null && { onAgain: () => actions.onAgain(turn) })} />
      )}
      {result?.output != null && <JsonView text={formatJson(result.output)} label="structured output" isRepeated />}
      {isAsking && <Questions questions={result.pending} onAnswer={onAnswer} />}
      {result !== null && runId !== null && (
        <Figures
          run={{ apiIntegrationId, runId }}
          status={isAsking ? 'waiting' : result.status}
          charged={{
            apiIntegrationId,
            runId,
            usageRequestId,
            createdAt: run?.createdAt ?? null,
            status: result.status,
          }}
          firstTokenMs={live.isNew ? live.firstTokenMs : null}
          totalMs={live.isNew ? live.totalMs : null}
          durationMs={getStoredDuration(run)}
          usage={result.usage}
          text={result.text}
        />
      )}
    </article>
  );
}

function AnswerTitle({ live }: { readonly live: LiveRun }) {
  useChanges(live.content.root.changes);
  const agent = firstAgent(live.content.root.parts);
  return <h2 className="answer-title">{agent === null ? 'Answer' : <bdi>{agent}</bdi>}</h2>;
}

/** The agent that began the answer. A hand-off names it too, if the agent has written nothing. */
function firstAgent(parts: readonly Part[]): string | null {
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
  return <p className="part-line">{waitingText(live)}</p>;
}

function waitingText({ runId, isDelayed }: LiveRun): string {
  if (runId !== null) return 'Thinking…';
  if (!isDelayed) return 'Waiting for the server…';
  return 'The server has not accepted the message yet. It is sent again by itself, for up to 2 minutes.';
}

const getStoredDuration = (run: RunListItem | undefined): number | null =>
  run?.completedAt == null ? null : getDuration(run);

interface StoredAnswerProps {
  readonly message: NonNullable<Turn['stored']>;
  readonly run: RunListItem | undefined;
  readonly apiIntegrationId: string;
}

function StoredAnswer({ message, run, apiIntegrationId }: StoredAnswerProps) {
  const { content, agent, status, error, runId } = message;
  return (
    <article className="answer" aria-label="Answer">
      <h2 className="answer-title">
        <bdi>{agent ?? 'Answer'}</bdi>
      </h2>
      {content !== '' && <Markdown text={content} />}
      {error !== null && <RunError error={error} />}
      <Figures
        run={{ apiIntegrationId, runId }}
        status={run === undefined ? status : toStatus(run)}
        charged={run ?? null}
        firstTokenMs={null}
        totalMs={null}
        durationMs={getStoredDuration(run)}
        usage={run?.usage ?? null}
        text={content}
      />
    </article>
  );
}
