import { usageJson } from '../domain/model/usage.ts';
import type { RunEventBody } from '../domain/run/events.ts';
import type { RunError } from '../domain/run/run-state.ts';
import type { EndRecord, RunOutcome } from '../runs/end-run.ts';
import type { EngineDeps } from './deps.ts';

export const INTERNAL_ERROR: RunError = {
  code: 'internal_error',
  message: 'The run failed because of an error in the server; the server log has the details.',
};

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
    completedAt: Date.now(),
  });
  events.push({ type: 'end' });
  return events;
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
