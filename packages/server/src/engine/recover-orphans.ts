import { StoreUnavailable } from '../domain/unavailable.ts';
import { AlreadyEnded, RunLost } from '../runs/run-lost.ts';
import { orphanedRuns } from '../store/queries/takeover.ts';
import { endUnreadable } from './end-orphan.ts';
import type { AdmittedRun } from './port.ts';
import { interrupted, type Taken, type TakeOverDeps, takeOver } from './take-over.ts';

export interface Recovered {
  /** To be started. */
  readonly resumed: readonly AdmittedRun[];
  readonly ended: number;
}

/**
 * Takes over every unfinished run whose node is gone, or ends it where it cannot go on. On the embedded store the data
 * folder's lock is the lease: whoever holds it finds the runs of all other nodes orphaned, by definition. On PostgreSQL
 * these are the runs of nodes that stopped in good order; several that start at once share them out.
 *
 * Each is looked at once: one that cannot be taken stops neither the start nor the others.
 */
export async function recoverOrphans(deps: TakeOverDeps): Promise<Recovered> {
  const { store, logger } = deps;
  const resumed: AdmittedRun[] = [];
  let ended = 0;
  let after = '';
  for (;;) {
    const runs = await store.reads.all(orphanedRuns, { after });
    const taken = await Promise.all(runs.map(({ run_id: runId }) => recover(deps, runId)));
    for (const [place, { resumed: run, ended: report }] of taken.entries()) {
      const runId = runs[place]?.run_id ?? '';
      after = runId;
      if (report !== undefined) {
        ended += 1;
        logger.warn({ runId }, 'a run was found without its process and ended');
      } else if (run !== undefined) {
        resumed.push(run);
        const steps = run.resumed?.steps.length ?? 0;
        logger.warn({ runId, attempt: run.attempt, steps }, 'a run was found without its process and goes on');
      } else
        logger.warn(
          { runId },
          'a run was found without its process and not taken: another node has it, or a row is missing',
        );
    }
    if (runs.length === 0) return { resumed, ended };
  }
}

async function recover(deps: TakeOverDeps, runId: string): Promise<Taken> {
  try {
    return await takeOver(deps, runId);
  } catch (error) {
    if (isTaken(error)) return {};
    // Nothing is wrong with the run.
    if (error instanceof StoreUnavailable) throw error;
    deps.logger.error({ err: error, runId }, 'an unfinished run cannot be read and ends');
  }
  try {
    const ended = await endUnreadable(deps, runId, interrupted('what is stored of it cannot be read.'));
    return ended === null ? {} : { ended };
  } catch (error) {
    if (isTaken(error)) return {};
    if (error instanceof StoreUnavailable) throw error;
    deps.logger.error({ err: error, runId }, 'the end of a run cannot be stored; its chat stays busy');
    return {};
  }
}

/** Another node was first. */
function isTaken(error: unknown): boolean {
  return error instanceof RunLost || error instanceof AlreadyEnded;
}
