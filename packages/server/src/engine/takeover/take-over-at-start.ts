import type { AdmittedRun } from '../../domain/run/admitted-run.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import type { NodeIdentity } from '../../store/this-node.ts';
import { Orphans } from './orphans.ts';
import type { TakeoverDeps } from './take-over.ts';

/** A run that was taken over, and the identity that took it. If this node is fenced, it loses both. */
export interface ResumedRun {
  readonly run: AdmittedRun;
  readonly as: NodeIdentity | null;
}

export interface TakeoverAtStart {
  /** Each is started if this process still has the identity that took it over. */
  readonly resumed: readonly ResumedRun[];
  readonly ended: number;
}

/**
 * Takes every orphan over before the server listens. On the embedded store the data folder's lock is the lease: for
 * its holder, the unfinished runs of all other nodes are orphans.
 */
export async function takeOverAtStart(deps: TakeoverDeps, room: () => number): Promise<TakeoverAtStart> {
  const resumed: ResumedRun[] = [];
  const orphans = new Orphans(deps, {
    room: () => room() - resumed.length,
    start: (run) => resumed.push({ run, as: deps.node.identity }),
    closing: new AbortController().signal,
  });
  try {
    await orphans.takeOverAll();
  } catch (error) {
    // If several nodes can share the store, the takeover loop of every running node continues to look for orphans.
    if (!(error instanceof StoreUnavailable) || deps.store.kind !== 'postgres') throw error;
    deps.logger.warn({ reason: error.message }, 'some orphaned runs could not be taken over yet; retrying');
  }
  return { resumed, ended: orphans.ended };
}
