import type { RunEndStatus, RunError } from '../domain/run-state.ts';
import { type Usage, usageJson } from '../domain/usage.ts';
import type { EngineDeps } from './deps.ts';

export interface EndReport {
  readonly runId: string;
  /** Null where another process had admitted it. */
  readonly requestId: string | null;
  readonly attempt: number;
  readonly status: RunEndStatus;
  readonly error: RunError | null;
  readonly usage: Usage;
  readonly startedAt: number;
}

/** One line and one count per run, once its end is durable. Nothing that anybody said is in it. */
export function reportEnd(deps: Pick<EngineDeps, 'logger' | 'metrics'>, end: EndReport): void {
  const { startedAt, usage, error, ...ids } = end;
  const code = error?.code ?? null;
  deps.metrics.runsEnded.add(code === null ? { status: end.status } : { status: end.status, code });
  const durationMs = Date.now() - startedAt;
  deps.metrics.runDuration.observe(durationMs, { status: end.status });
  deps.logger.info({ ...ids, code, usage: usageJson(usage), durationMs }, 'run ended');
}
