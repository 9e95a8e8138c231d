import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadedAgency } from '../agencies/loaded-agency.ts';
import type { RunId } from '../domain/ids.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { type CommitUnknown, StoreUnavailable } from '../domain/unavailable.ts';
import type { RunEngine } from '../engine/port.ts';
import { type UnfinishedRun, unfinishedRun } from '../store/queries/takeover.ts';
import { first, type Store } from '../store/store.ts';
import type { NodeIdentity, ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';

const RETRY_MS = 500;

export interface StartDeps {
  readonly store: Store;
  readonly engine: RunEngine;
  readonly node: ThisNode;
  readonly isShuttingDown: () => boolean;
  readonly logger: Logger;
}

export interface StartableRun {
  readonly run: AdmittedRun;
  /** The version of the agency that admission has checked: a reload does not change it. */
  readonly agency: LoadedAgency | null;
}

/** Skips the start if this node was fenced after it admitted the run: another node owns it now. */
export function startRun({ node, engine }: StartDeps, { run, agency }: StartableRun, as: NodeIdentity | null): void {
  if (node.identity === as) engine.start(run, null, agency);
}

/**
 * The commit's outcome is unknown, so the caller got 503 without a header. When the outcome is known, starts the run
 * if it was admitted. If this server stops before that, another one takes the run over.
 */
export function startIfCommitted(
  deps: StartDeps,
  { happened }: CommitUnknown,
  startable: StartableRun,
  as: NodeIdentity | null,
): void {
  const { run } = startable;
  const { engine, isShuttingDown, logger } = deps;
  const start = async () => {
    if (!(await happened) || (await readUnfinished(deps, run.runId)) === undefined || isShuttingDown()) return;
    startRun(deps, startable, as);
    // Read after the start: a cancel that arrived earlier found no run here that it could stop.
    const row = await readUnfinished(deps, run.runId);
    if (row !== undefined && row.cancel_mode !== null) engine.stop(run.runId, row.cancel_mode);
  };
  start().catch((error: unknown) =>
    logger.error(
      { err: error, runId: run.runId, ...run.trace },
      'an admitted run could not be started; the next start of a server takes it over',
    ),
  );
}

/** Retries until the store answers. Returns undefined if the run has ended or this server is shutting down. */
async function readUnfinished({ store, isShuttingDown }: StartDeps, runId: RunId): Promise<UnfinishedRun | undefined> {
  while (!isShuttingDown()) {
    try {
      return await first(store.reads.all(unfinishedRun, { runId }));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await sleep(RETRY_MS, undefined, { ref: false });
    }
  }
  return undefined;
}
