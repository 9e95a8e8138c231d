import { RunLost } from '../domain/run-lost.ts';
import type { RunLog } from '../eventlog/run-log.ts';
import { releaseRun } from '../store/queries/takeover.ts';
import type { EngineDeps } from './deps.ts';
import type { AdmittedRun } from './port.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { StopHandle } from './stop-handle.ts';

/**
 * The run's last step is durable with all its events, or it has begun none: another node goes on behind it. Its readers are cut when that is
 * written, and find it wherever they come back.
 */
export async function handOver(deps: EngineDeps, run: AdmittedRun, log: RunLog, stop: StopHandle): Promise<void> {
  const { runId, attempt } = run;
  log.abandon();
  await retryWhileUnavailable(deps, stop, () =>
    deps.store.transact('takeover', async (tx) => {
      if ((await tx.run(releaseRun, { runId, attempt })) !== 1) throw RunLost.ofAttempt(runId, attempt);
    }),
  );
  deps.logger.info({ runId, attempt }, 'this server is shutting down; a run was handed over between two steps');
}
