import type { RequestTrace } from '../domain/request-trace.ts';
import type { RunEndStatus, RunError } from '../domain/run-state.ts';
import { type Usage, usageJson } from '../domain/usage.ts';
import type { EngineDeps } from './deps.ts';

export interface EndReport {
  readonly runId: string;
  readonly trace: RequestTrace;
  readonly integrationId: string;
  readonly consumerId: string | null;
  /** Null if its agent no longer exists. */
  readonly model: string | null;
  /** The status with which the provider refused the call that failed the run; null if it failed for another reason. */
  readonly providerStatus: number | null;
  readonly attempt: number;
  readonly status: RunEndStatus;
  readonly error: RunError | null;
  readonly usage: Usage;
  readonly startedAt: number;
}

/**
 * Counts the run and logs one line, after its end is durable, and one more line if the run failed. No line contains text
 * of the user or the model.
 */
export function reportEnd(deps: Pick<EngineDeps, 'logger' | 'metrics'>, end: EndReport): void {
  const { runId, trace, attempt, status, error, usage, startedAt } = end;
  const ids = { runId, ...trace };
  const code = error?.code ?? null;
  deps.metrics.runsEnded.add(code === null ? { status } : { status, code });
  const durationMs = Date.now() - startedAt;
  deps.metrics.runDuration.observe(durationMs, { status });
  deps.logger.info({ ...ids, attempt, status, code, usage: usageJson(usage), durationMs }, 'run ended');
  if (error === null) return;
  const { integrationId, consumerId, model, providerStatus } = end;
  const about = { integrationId, consumerId, model, providerStatus };
  deps.logger.warn({ ...ids, attempt, code, sentence: error.message, ...about }, 'run failed');
}
