import type { Progress } from '../agent/progress.ts';
import { callForSummary } from '../agent/summary-call.ts';
import { mostSummaryBytes } from '../chats/summary.ts';
import { cutText, writeRequest } from '../chats/summary-request.ts';
import { BYTES_A_TOKEN } from '../domain/model/usage.ts';
import type { Step } from '../domain/run/step.ts';
import type { AgentTrace } from '../telemetry/run-trace.ts';
import type { Overflow } from './build-prompt.ts';
import type { EngineDeps } from './deps.ts';
import { MESSAGES_A_TURN, readOldest } from './earlier-turns.ts';
import type { RunAttempt } from './execution.ts';
import type { PreparedAgent } from './prepared-agency.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { UnfinishedSteps } from './unfinished-steps.ts';

/** The run that makes a summary before its first step. */
export interface SummarizingRun extends Omit<RunAttempt, 'scratch'> {
  readonly deps: EngineDeps;
  readonly progress: Progress;
  readonly unfinished: UnfinishedSteps;
}

interface SummaryParts {
  /** The agent that begins the run. */
  readonly entry: PreparedAgent | null;
  readonly trace: AgentTrace | null;
  /** Makes the step durable. */
  readonly journal: (step: Step) => Promise<void>;
}

/** The part of the window for the request. The rest is for the answer, and for texts that have more tokens than estimated. */
const REQUEST_PART = 0.7;
/** A run that may take only one step answers without a summary. */
const LEAST_STEPS = 2;

/**
 * Makes a summary of the oldest turns, as the run's first step. It is stored with the chat by the T3 of the step, whatever becomes
 * of the run. Resolves to false if there is none; then the turns are left out.
 */
export async function makeSummary(
  { deps, run, prepared, log, stop, watched, progress, unfinished }: SummarizingRun,
  parts: SummaryParts,
  overflow: Overflow,
): Promise<boolean> {
  const { entry, trace } = parts;
  if (prepared === null || entry === null || prepared.agency.limits.steps < LEAST_STEPS) return false;
  const { models, windowTokens } = prepared.summaryModels(entry);
  if (models.length === 0) return false;
  const { summary, roomTokens } = overflow;
  const summaryBytes = mostSummaryBytes(roomTokens);
  const mostTokens = Math.floor(windowTokens * REQUEST_PART);
  const turns =
    overflow.turns ??
    (await retryWhileUnavailable(deps, stop, () =>
      readOldest(deps.store.reads, run.chatKey, overflow, deps.prompt.heal, mostTokens),
    ));
  const bounds = { mostBytes: mostTokens * BYTES_A_TOKEN, summaryBytes };
  const request = writeRequest(summary?.text ?? null, turns, bounds);
  // The last chance to stop before a call that costs money.
  stop.stepDone(true);
  const written = await callForSummary(
    {
      runId: run.runId,
      attempt: run.attempt,
      progress,
      signal: stop.signal,
      mayCall: () => deps.mayCall?.(stop.signal) ?? null,
      unfinished,
      propagatesTrace: prepared.agency.propagateTrace,
      heard: () => watched.heard(),
      trace,
    },
    { agent: entry.agent.name, models: models.map((model) => watched.guard(model)), ...request },
  );
  if (written === null) return false;
  const end = turns[request.turns - 1]?.lastPosition ?? overflow.from - 1;
  const text = cutText(written.text, summaryBytes);
  const turnsCovered = end / MESSAGES_A_TURN;
  log.append({ type: 'history_left_out', agent: entry.agent.name, turns: turnsCovered, summarized: true });
  const before = summary?.runId ?? null;
  await parts.journal({
    ...written.step,
    summary: { text, turns: turnsCovered, end, madeAt: overflow.madeAt, before },
  });
  return true;
}
