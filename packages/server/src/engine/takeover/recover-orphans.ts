import { StoreUnavailable } from '../../domain/unavailable.ts';
import type { NodeIdentity } from '../../store/this-node.ts';
import type { AdmittedRun } from '../port.ts';
import { Orphans } from './orphans.ts';
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
 * Runs at the start. Takes over every unfinished run whose node is dead, or ends the run if it cannot continue. On the
 * embedded store the data folder's lock is the lease: its holder finds the runs of all other nodes orphaned.
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
    // If several nodes can share the store, every running node continues to look for orphaned runs.
    if (!(error instanceof StoreUnavailable) || deps.store.kind !== 'postgres') throw error;
    deps.logger.warn({ reason: error.message }, 'some orphaned runs could not be taken over yet');
  }
  return { resumed, ended: orphans.ended };
}
