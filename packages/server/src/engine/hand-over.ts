import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { RunLost } from '../domain/run/run-lost.ts';
import type { RunLog } from '../eventlog/run-log.ts';
import { moveActiveRun, NO_MEMBER } from '../store/queries/active-runs.ts';
import { releaseRun } from '../store/queries/takeover.ts';
import { RELEASED_RUN } from '../store/schema.ts';
import type { EngineDeps } from './deps.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { StopHandle } from './stop-handle.ts';

/**
 * Releases a run between two steps, so that another node resumes it. The last step and all its events are durable, or the
 * run has not started any step. After that its readers are cut; they reconnect to any node and find the run there.
 */
export async function handOver(deps: EngineDeps, run: AdmittedRun, log: RunLog, stop: StopHandle): Promise<void> {
  const { runId, attempt } = run;
  const owner = { integration_id: run.integrationId, consumer_id: run.consumerId ?? NO_MEMBER };
  log.abandon();
  await retryWhileUnavailable(deps, stop, () =>
    deps.store.transact('takeover', async (tx) => {
      if ((await tx.run(releaseRun, { runId, attempt })) !== 1) throw RunLost.ofAttempt(runId, attempt);
      await tx.run(moveActiveRun, { ...owner, chat_key: run.chatKey, run_id: runId, nodeId: RELEASED_RUN });
    }),
  );
  deps.logger.info(
    { runId, ...run.trace, attempt },
    'this server is shutting down; a run was handed over between two steps',
  );
}
