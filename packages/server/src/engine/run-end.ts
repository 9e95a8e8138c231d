import type { AttemptStart, RunIdentity } from '../domain/admitted-run.ts';
import type { ChangedFile } from '../domain/changed-file.ts';
import type { RunEventBody, RunItem } from '../domain/events.ts';
import type { Question } from '../domain/question.ts';
import type { RunEndStatus, RunError } from '../domain/run-state.ts';
import type { JournalledStep } from '../domain/step.ts';
import { type ModelUsage, type Usage, usageJson } from '../domain/usage.ts';
import type { Chunk } from '../eventlog/run-log.ts';
import type { RunEnd } from '../runs/end-run.ts';
import type { EngineDeps } from './deps.ts';

/** How a run ends, and what it has produced and used until then. */
export interface RunOutcome {
  readonly run: RunIdentity & Pick<AttemptStart, 'attempt' | 'nodeId' | 'trace'>;
  readonly status: RunEndStatus;
  readonly error: RunError | null;
  /** The status with which the provider refused the call that failed the run; null if it failed for another reason. */
  readonly providerStatus: number | null;
  readonly items: readonly RunItem[];
  /** The answer. */
  readonly text: string;
  /** The value of a structured answer; null if the answer is free text. */
  readonly output: { readonly value: unknown } | null;
  /** The questions with which the run ends: only a completed run asks. */
  readonly questions: readonly Question[];
  /** The files that the run changed. */
  readonly files: readonly ChangedFile[];
  /** True if a model accepted a call, in the attempt that ends the run or in a journalled step. */
  readonly accepted: boolean;
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
  readonly steps: number;
  /** True if the run settles questions of another one. */
  readonly continues: boolean;
}

/** The last events of a run, with their ids. */
export interface EndRecord {
  /** The attempt under which the end is written: the run's own, or the next one if the run is an orphan. */
  readonly attempt: number;
  /** The step that commits together with the end, if there is one. */
  readonly lastStep: JournalledStep | null;
  readonly chunks: readonly Chunk[];
  readonly lastEventId: number;
  /** Written as the start of the run if the run's row has none. */
  readonly startedAt: number;
}

/** The events of the end (`contract-5-meta-once`): one `messages`, and `end` last. A failure adds its own frame before them. */
export function endEvents(outcome: RunOutcome): RunEventBody[] {
  const { run, status, error, items, usage, output, questions, files } = outcome;
  const { runId, chatId } = run;
  const events: RunEventBody[] = [];
  if (error !== null) events.push({ type: 'error', runId, error });
  const pending = questions.length === 0 ? {} : { pending: questions };
  const changed = files.length === 0 ? {} : { files };
  events.push({
    type: 'messages',
    runId,
    chatId,
    status,
    items,
    usage,
    error,
    output: output?.value ?? null,
    ...pending,
    ...changed,
  });
  events.push({ type: 'end' });
  return events;
}

/** The agent that gave the answer: after a hand-off it is another one than the entry point. */
function answeringAgent({ run, items }: RunOutcome): string {
  return (
    items.findLast((item) => item.kind !== 'user' && item.callerAgent === null && item.kind !== 'tool_output')?.agent ??
    run.agent
  );
}

/** What T4 writes. */
export function runEnd(
  { prices, earlierNodes }: Pick<EngineDeps, 'prices' | 'earlierNodes'>,
  outcome: RunOutcome,
  record: EndRecord,
): RunEnd {
  const { run, status, error, text, output, questions, accepted, usage, byModel, steps } = outcome;
  const { attempt: nextAttempt, lastStep, chunks, lastEventId, startedAt } = record;
  const { runId, chatKey, attempt } = run;
  return {
    runId,
    chatKey,
    run,
    agent: answeringAgent(outcome),
    attempt,
    nextAttempt,
    status,
    error,
    text,
    structured: output !== null,
    questions: questions.length === 0 ? null : { runId, agent: run.agent, questions },
    accepted,
    usage,
    byModel,
    prices,
    steps,
    lastStep,
    // A chain of questions is read from the rows of its steps. The row of the run has the agent of its first step.
    keepsStep: earlierNodes.areAlive() || questions.length > 0 || outcome.continues || lastStep?.agent !== run.agent,
    chunks,
    lastEventId,
    startedAt,
  };
}

/**
 * Counts the run and logs one line, after its end is durable, and one more line if the run failed. No line contains text
 * of the user or the model.
 */
export function reportEnd(
  { logger, metrics }: Pick<EngineDeps, 'logger' | 'metrics'>,
  { run, status, error, usage, byModel, providerStatus }: RunOutcome,
  { attempt, startedAt }: Pick<EndRecord, 'attempt' | 'startedAt'>,
): void {
  const ids = { runId: run.runId, ...run.trace };
  const code = error?.code ?? null;
  metrics.runsEnded.add(code === null ? { status } : { status, code });
  const durationMs = Date.now() - startedAt;
  metrics.runDuration.observe(durationMs, { status });
  logger.info({ ...ids, attempt, status, code, usage: usageJson(usage), durationMs }, 'run ended');
  if (error === null) return;
  const { integrationId, consumerId } = run;
  // The model that was asked last. Null if none was asked.
  const model = byModel.at(-1)?.model ?? null;
  const about = { integrationId, consumerId, model, providerStatus };
  logger.warn({ ...ids, attempt, code, sentence: error.message, ...about }, 'run failed');
}
