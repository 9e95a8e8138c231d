import { StoreUnavailable } from '../domain/unavailable.ts';
import type { NodeIdentity } from '../store/this-node.ts';
import { Orphans } from './orphans.ts';
import type { AdmittedRun } from './port.ts';
import type { TakeOverDeps } from './take-over.ts';

/** A run, and as which node this process took it: once that one is lost, so is the run. */
export interface TakenRun {
  readonly run: AdmittedRun;
  readonly as: NodeIdentity | null;
}

export interface Recovered {
  /** To be started, each if this process is still the node that took it. */
  readonly resumed: readonly TakenRun[];
  readonly ended: number;
}

/**
 * At the start: takes over every unfinished run whose node is gone, or ends it where it cannot go on. On the embedded
 * store the data folder's lock is the lease: whoever holds it finds the runs of all other nodes orphaned, by definition.
 */
export async function recoverOrphans(deps: TakeOverDeps, room: () => number): Promise<Recovered> {
  const resumed: TakenRun[] = [];
  const orphans = new Orphans(deps, {
    room: () => room() - resumed.length,
    start: (run) => resumed.push({ run, as: deps.node.identity }),
    closing: new AbortController().signal,
  });
  try {
    await orphans.take();
  } catch (error) {
    // Where several nodes share the store, it is looked for them again as long as one runs.
    if (!(error instanceof StoreUnavailable) || deps.store.kind !== 'postgres') throw error;
    deps.logger.warn({ reason: error.message }, 'not all orphaned runs could be taken yet');
  }
  return { resumed, ended: orphans.ended };
}
