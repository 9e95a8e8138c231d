import { AlreadyEnded, RunLost } from '../../domain/run-lost.ts';
import { NodeFenced, StoreUnavailable } from '../../domain/unavailable.ts';
import { monotonicMs } from '../../lib/monotonic.ts';
import { orphanedRuns } from '../../store/queries/takeover.ts';
import type { AdmittedRun } from '../port.ts';
import { endUnreadable } from './end-orphan.ts';
import { interrupted, type Taken, type TakeOverDeps, takeOver } from './take-over.ts';

/** So few that other nodes find some to take as well. */
const AT_ONCE = 16;
/** So many failed one by one in the same look: nothing is wrong with them, the store is away. */
const MAX_FAILED = 3;
const TRY_AGAIN_MS = 2000;
const TRY_AGAIN_MAX_MS = 300_000;

export interface OrphansOptions {
  /** How many more runs this node may run. */
  readonly room: () => number;
  readonly start: (run: AdmittedRun) => void;
  /** Aborted: a store that is away is not waited for any more. */
  readonly closing: AbortSignal;
}

interface Late {
  readonly tries: number;
  readonly againAt: number;
}

/** The unfinished runs of nodes that no longer exist. */
export class Orphans {
  readonly #deps: TakeOverDeps;
  readonly #options: OrphansOptions;
  /** Could not be taken even alone, as one that is too large for the time there is: not tried at each look. */
  readonly #late = new Map<string, Late>();
  /** Why runs were left, as far as it was said. */
  readonly #told = new Map<string, Set<string>>();
  #ended = 0;

  constructor(deps: TakeOverDeps, options: OrphansOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** How many were not to go on. */
  get ended(): number {
    return this.#ended;
  }

  /**
   * One look: takes them over a few at a time, as long as there is room for more; several nodes that do so at once share
   * them out. One that cannot be taken stops neither the start nor the others: it is tried alone, then behind them.
   */
  async take(): Promise<void> {
    const { room } = this.#options;
    const seen = new Set<string>();
    const failed: unknown[] = [];
    const alone = async (runId: string) => {
      const error = room() > 0 ? await this.#takeAlone(runId) : null;
      if (error !== null) failed.push(error);
      if (failed.length >= MAX_FAILED) throw error;
    };
    for (let after = ''; ; ) {
      const found = await this.#found(after);
      const some = found.filter((runId) => !this.#late.has(runId)).slice(0, AT_ONCE);
      if (found.length === 0) break;
      const runIds = some.slice(0, Math.max(0, room()));
      for (const runId of await this.#takeTogether(runIds)) await alone(runId);
      if (room() <= 0) return;
      after = (some.length < AT_ONCE ? found : some).at(-1) ?? '';
      for (const runId of found) seen.add(runId);
    }
    this.#forgetBut(seen);
    const now = monotonicMs();
    for (const [runId, { againAt }] of [...this.#late]) if (againAt <= now) await alone(runId);
    if (failed.length > 0) throw failed[0];
  }

  /** Oldest first. Not by the reads of everybody, which may be waiting for a connection. */
  async #found(after: string): Promise<string[]> {
    const rows = await this.#deps.store.transact('lease', (tx) => tx.all(orphanedRuns, { after }));
    return rows.map(({ run_id: runId }) => runId);
  }

  /** They share the time that one commit has. Resolves to those that are to be tried one by one. */
  async #takeTogether(runIds: readonly string[]): Promise<string[]> {
    const as = this.#deps.node.identity;
    const outcomes = await Promise.allSettled(runIds.map((runId) => this.#recover(runId)));
    const failed: string[] = [];
    let fault: { readonly error: unknown } | null = null;
    for (const [place, outcome] of outcomes.entries()) {
      const runId = runIds[place] ?? '';
      // What was taken beside one that failed is started all the same.
      if (outcome.status === 'fulfilled') this.#settle(runId, outcome.value, this.#deps.node.identity === as);
      else if (isPassing(outcome.reason)) failed.push(runId);
      else fault = { error: outcome.reason };
    }
    if (fault !== null) throw fault.error;
    return failed;
  }

  /** Null: it was taken, or found to be none of ours. Otherwise why not. */
  async #takeAlone(runId: string): Promise<unknown> {
    const as = this.#deps.node.identity;
    try {
      const taken = await this.#recover(runId);
      this.#late.delete(runId);
      this.#settle(runId, taken, this.#deps.node.identity === as);
      return null;
    } catch (error) {
      if (!isPassing(error)) throw error;
      const tries = (this.#late.get(runId)?.tries ?? 0) + 1;
      const waitMs = Math.min(TRY_AGAIN_MAX_MS, TRY_AGAIN_MS * 2 ** (tries - 1));
      this.#late.set(runId, { tries, againAt: monotonicMs() + waitMs });
      this.#deps.logger.warn(
        { err: error, runId, waitMs },
        'an orphaned run could not be taken over in time; retrying',
      );
      return error;
    }
  }

  #settle(runId: string, taken: Taken, isStillOurs: boolean): void {
    const { logger, metrics } = this.#deps;
    const { resumed: run, ended: report, isOthers } = taken;
    if (report !== undefined) {
      this.#ended += 1;
      metrics.runsTakenOver.add({ outcome: 'ended' });
      logger.warn({ runId }, 'an orphaned run was ended');
    } else if (run !== undefined && isStillOurs) {
      this.#options.start(run);
      metrics.runsTakenOver.add({ outcome: 'resumed' });
      const steps = run.resumed?.steps.length ?? 0;
      logger.warn({ runId, attempt: run.attempt, steps }, 'an orphaned run was taken over and continues');
    } else if (isOthers) {
      this.#tellOnce(runId, 'another version of the server started it, and a node of that version can continue it');
    } else this.#tellOnce(runId, 'another node owns it, or a row is missing');
  }

  #tellOnce(runId: string, why: string): void {
    const told = this.#told.get(runId) ?? new Set();
    if (told.has(why)) return;
    this.#told.set(runId, told.add(why));
    this.#deps.logger.info({ runId }, `an orphaned run was not taken over: ${why}`);
  }

  #forgetBut(seen: ReadonlySet<string>): void {
    for (const runId of this.#told.keys()) if (!seen.has(runId)) this.#told.delete(runId);
    for (const runId of this.#late.keys()) if (!seen.has(runId)) this.#late.delete(runId);
  }

  async #recover(runId: string): Promise<Taken> {
    const deps = this.#deps;
    try {
      return await takeOver(deps, runId, this.#options.closing);
    } catch (error) {
      if (isTaken(error)) return {};
      // Nothing is wrong with the run.
      if (error instanceof StoreUnavailable) throw error;
      deps.logger.error({ err: error, runId }, 'an unfinished run cannot be read and is ended');
    }
    try {
      const ended = await endUnreadable(deps, runId, interrupted('its stored data cannot be read.'));
      return ended === null ? {} : { ended };
    } catch (error) {
      if (isTaken(error)) return {};
      if (error instanceof StoreUnavailable) throw error;
      deps.logger.error({ err: error, runId }, 'the end of a run cannot be stored, so its chat stays busy');
      return {};
    }
  }
}

/** Another node was first. */
function isTaken(error: unknown): boolean {
  return error instanceof RunLost || error instanceof AlreadyEnded;
}

/** It may be tried again as this node. */
function isPassing(error: unknown): boolean {
  return error instanceof StoreUnavailable && !(error instanceof NodeFenced);
}
