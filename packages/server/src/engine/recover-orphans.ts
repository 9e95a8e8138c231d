import { StoreUnavailable } from '../domain/unavailable.ts';
import { AlreadyEnded, RunLost } from '../runs/run-lost.ts';
import { orphanedRuns } from '../store/queries/takeover.ts';
import { endUnreadable } from './end-orphan.ts';
import type { AdmittedRun } from './port.ts';
import { interrupted, type Taken, type TakeOverDeps, takeOver } from './take-over.ts';

/** So few that other nodes find some to take as well. */
const AT_ONCE = 16;

export interface Recovered {
  /** To be started. */
  readonly resumed: readonly AdmittedRun[];
  readonly ended: number;
}

/**
 * At the start: takes over every unfinished run whose node is gone, or ends it where it cannot go on. On the embedded
 * store the data folder's lock is the lease: whoever holds it finds the runs of all other nodes orphaned, by definition.
 */
export async function recoverOrphans(deps: TakeOverDeps, room: () => number): Promise<Recovered> {
  const resumed: AdmittedRun[] = [];
  const ended = await takeOrphans(
    deps,
    () => room() - resumed.length,
    (run) => resumed.push(run),
  );
  return { resumed, ended };
}

/**
 * Takes over the unfinished runs of nodes that are gone, a few at a time, as long as there is room for more; several
 * nodes that do so at once share them out. Each is looked at once: one that cannot be taken stops neither the start nor
 * the others. Resolves to how many were ended.
 */
export async function takeOrphans(
  deps: TakeOverDeps,
  room: () => number,
  start: (run: AdmittedRun) => void,
): Promise<number> {
  let ended = 0;
  let after = '';
  for (;;) {
    const runs = (await deps.store.reads.all(orphanedRuns, { after })).slice(0, Math.max(0, Math.min(AT_ONCE, room())));
    if (runs.length === 0) return ended;
    const as = deps.node.identity;
    const outcomes = await Promise.allSettled(runs.map(({ run_id: runId }) => recover(deps, runId)));
    for (const [place, outcome] of outcomes.entries()) {
      if (outcome.status === 'rejected') continue;
      const { resumed: run, ended: report } = outcome.value;
      const runId = runs[place]?.run_id ?? '';
      after = runId;
      if (report !== undefined) {
        ended += 1;
        deps.metrics.runsTakenOver.add({ outcome: 'ended' });
        deps.logger.warn({ runId }, 'a run was found without its process and ended');
      } else if (run !== undefined && deps.node.identity === as) {
        start(run);
        deps.metrics.runsTakenOver.add({ outcome: 'resumed' });
        const steps = run.resumed?.steps.length ?? 0;
        deps.logger.warn({ runId, attempt: run.attempt, steps }, 'a run was found without its process and goes on');
      } else
        deps.logger.info(
          { runId },
          'a run was found without its process and not taken: another node has it, or a row is missing',
        );
    }
    // What was taken beside it is started all the same.
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
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
