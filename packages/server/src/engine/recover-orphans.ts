import { orphanedRuns } from '../store/queries/takeover.ts';
import type { AdmittedRun } from './port.ts';
import { type TakeOverDeps, takeOver } from './take-over.ts';

export interface Recovered {
  /** To be started. */
  readonly resumed: readonly AdmittedRun[];
  readonly ended: number;
}

/**
 * On the embedded store the data folder's lock is the lease: whoever holds it finds every unfinished run of another
 * node orphaned, by definition. Each is taken over, or ended where it cannot go on.
 */
export async function recoverOrphans(deps: TakeOverDeps): Promise<Recovered> {
  const { store, logger } = deps;
  const resumed: AdmittedRun[] = [];
  let ended = 0;
  for (;;) {
    const runs = await store.reads.all(orphanedRuns, {});
    if (runs.length === 0) return { resumed, ended };
    const taken = await Promise.all(runs.map(({ run_id: runId }) => takeOver(deps, runId)));
    for (const [place, run] of taken.entries()) {
      const runId = runs[place]?.run_id;
      if (run === null) {
        ended += 1;
        logger.warn({ runId }, 'a run was found without its process and ended');
      } else {
        resumed.push(run);
        const steps = run.resumed?.steps.length ?? 0;
        logger.warn({ runId, attempt: run.attempt, steps }, 'a run was found without its process and goes on');
      }
    }
  }
}
