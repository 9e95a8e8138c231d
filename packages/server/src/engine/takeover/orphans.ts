import { monotonicMs } from '@runwire/lib/monotonic.ts';
import type { AdmittedRun } from '../../domain/admitted-run.ts';
import type { RunId } from '../../domain/ids.ts';
import { AlreadyEnded, RunLost } from '../../domain/run-lost.ts';
import { NodeFenced, StoreUnavailable } from '../../domain/unavailable.ts';
import { orphanedRuns } from '../../store/queries/takeover.ts';
import { endUnreadableOrphan } from './end-orphan.ts';
import { interrupted, LEFT_TO_OTHERS, type Takeover, type TakeoverDeps, takeOver } from './take-over.ts';

/** Small enough that other nodes find orphans to take over as well. */
const BATCH = 16;
/** If so many orphans fail one by one in the same pass, the store is unavailable and the orphans are intact. */
const MAX_FAILED = 3;
const RETRY_MS = 2000;
const MAX_RETRY_MS = 300_000;

export interface OrphansOptions {
  /** How many more runs this node may execute. */
  readonly room: () => number;
  readonly start: (run: AdmittedRun) => void;
  /** Called for an orphan that waits, with the time at which a pass ends it. */
  readonly onWaiting?: (endsAt: number) => void;
  /** Aborted when this node stops waiting for a store that is unavailable. */
  readonly closing: AbortSignal;
}

interface Retry {
  readonly tries: number;
  readonly retryAt: number;
}

/** Finds orphans and takes them over. */
export class Orphans {
  readonly #deps: TakeoverDeps;
  readonly #options: OrphansOptions;
  /** Orphans that could not be taken over even alone, for example because they are too large for the time limit. */
  readonly #retries = new Map<RunId, Retry>();
  /** The reasons that were logged for each orphan that was left. */
  readonly #logged = new Map<string, Set<string>>();
  #ended = 0;

  constructor(deps: TakeoverDeps, options: OrphansOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** How many orphans were ended because they could not be resumed. */
  get ended(): number {
    return this.#ended;
  }

  /**
   * One pass: takes the orphans over in small batches while there is room, so that several nodes share them. An orphan
   * that fails is tried again alone, and after that later; it stops neither the start of the server nor the others.
   */
  async takeOverAll(): Promise<void> {
    const { room } = this.#options;
    const seen = new Set<string>();
    const failed: unknown[] = [];
    const alone = async (runId: RunId) => {
      const error = room() > 0 ? await this.#takeOverAlone(runId) : null;
      if (error !== null) failed.push(error);
      if (failed.length >= MAX_FAILED) throw error;
    };
    for (let after = ''; ; ) {
      const found = await this.#find(after);
      const batch = found.filter((runId) => !this.#retries.has(runId)).slice(0, BATCH);
      if (found.length === 0) break;
      const runIds = batch.slice(0, Math.max(0, room()));
      for (const runId of await this.#takeOverBatch(runIds)) await alone(runId);
      if (room() <= 0) return;
      after = (batch.length < BATCH ? found : batch).at(-1) ?? '';
      for (const runId of found) seen.add(runId);
    }
    this.#forgetAllExcept(seen);
    const now = monotonicMs();
    for (const [runId, { retryAt }] of [...this.#retries]) if (retryAt <= now) await alone(runId);
    if (failed.length > 0) throw failed[0];
  }

  /** Oldest first. Uses a transaction, because ordinary reads may be waiting for a connection. */
  async #find(after: string): Promise<RunId[]> {
    const rows = await this.#deps.store.transact('lease', (tx) => tx.all(orphanedRuns, { after }));
    return rows.map(({ run_id: runId }) => runId);
  }

  /** Takes the orphans over in one group commit, whose time limit they share. Resolves to those to try one by one. */
  async #takeOverBatch(runIds: readonly RunId[]): Promise<RunId[]> {
    const identity = this.#deps.node.identity;
    const results = await Promise.allSettled(runIds.map((runId) => this.#takeOver(runId)));
    const failed: RunId[] = [];
    let fault: { readonly error: unknown } | null = null;
    for (const [index, runId] of runIds.entries()) {
      const result = results[index];
      if (result === undefined) continue;
      // A run that was taken over is started even if another one of its batch failed.
      if (result.status === 'fulfilled') this.#settle(runId, result.value, this.#deps.node.identity === identity);
      else if (mayRetry(result.reason)) failed.push(runId);
      else fault = { error: result.reason };
    }
    if (fault !== null) throw fault.error;
    return failed;
  }

  /** Returns null if the orphan was taken over or left, otherwise the error. */
  async #takeOverAlone(runId: RunId): Promise<unknown> {
    const identity = this.#deps.node.identity;
    try {
      const takeover = await this.#takeOver(runId);
      this.#retries.delete(runId);
      this.#settle(runId, takeover, this.#deps.node.identity === identity);
      return null;
    } catch (error) {
      if (!mayRetry(error)) throw error;
      const tries = (this.#retries.get(runId)?.tries ?? 0) + 1;
      const waitMs = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (tries - 1));
      this.#retries.set(runId, { tries, retryAt: monotonicMs() + waitMs });
      this.#deps.logger.warn(
        { err: error, runId, waitMs },
        'an orphaned run could not be taken over in time; retrying',
      );
      return error;
    }
  }

  /** `isSameNode` is false if this node was fenced in between: then other nodes take the run over. */
  #settle(runId: RunId, takeover: Takeover, isSameNode: boolean): void {
    const { logger, metrics } = this.#deps;
    if (takeover.outcome === 'ended') {
      this.#ended += 1;
      metrics.runsTakenOver.add({ outcome: 'ended' });
      logger.warn({ runId }, 'an orphaned run was ended, because it cannot be resumed');
    } else if (takeover.outcome === 'left') {
      this.#logLeft(runId, takeover.why);
      if (takeover.endsAt !== undefined) this.#options.onWaiting?.(takeover.endsAt);
    } else if (isSameNode) {
      const { run } = takeover;
      this.#options.start(run);
      metrics.runsTakenOver.add({ outcome: 'resumed' });
      const steps = run.resumed?.steps.length ?? 0;
      logger.warn({ runId, attempt: run.attempt, steps }, 'an orphaned run was taken over and is resumed');
    } else this.#logLeft(runId, 'the other nodes have fenced this node');
  }

  /** Logs each reason once. */
  #logLeft(runId: RunId, why: string): void {
    const logged = this.#logged.get(runId) ?? new Set();
    if (logged.has(why)) return;
    this.#logged.set(runId, logged.add(why));
    this.#deps.logger.info({ runId }, `an orphaned run was not taken over: ${why}`);
  }

  #forgetAllExcept(seen: ReadonlySet<string>): void {
    for (const runId of this.#logged.keys()) if (!seen.has(runId)) this.#logged.delete(runId);
    for (const runId of this.#retries.keys()) if (!seen.has(runId)) this.#retries.delete(runId);
  }

  /** Takes one orphan over. If its rows cannot be read, ends it, so that its chat does not stay busy. */
  async #takeOver(runId: RunId): Promise<Takeover> {
    const deps = this.#deps;
    try {
      return await takeOver(deps, runId, this.#options.closing);
    } catch (error) {
      if (isLost(error)) return LEFT_TO_OTHERS;
      if (error instanceof StoreUnavailable) throw error;
      deps.logger.error({ err: error, runId }, 'an orphaned run cannot be read and is ended');
    }
    try {
      const isEnded = await endUnreadableOrphan(deps, runId, interrupted('its stored data cannot be read.'));
      return isEnded ? { outcome: 'ended' } : LEFT_TO_OTHERS;
    } catch (error) {
      if (isLost(error)) return LEFT_TO_OTHERS;
      if (error instanceof StoreUnavailable) throw error;
      deps.logger.error({ err: error, runId }, 'the end of an orphaned run cannot be stored, so its chat stays busy');
      return LEFT_TO_OTHERS;
    }
  }
}

/** Another node was faster. */
function isLost(error: unknown): boolean {
  return error instanceof RunLost || error instanceof AlreadyEnded;
}

/** True if this node may try again. */
function mayRetry(error: unknown): boolean {
  return error instanceof StoreUnavailable && !(error instanceof NodeFenced);
}
