import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapAtMost } from '@runwire/lib/map-concurrently.ts';
import { WakeableLoop } from '@runwire/lib/wakeable-loop.ts';
import type { IntegrationId, RunId } from '../domain/ids.ts';
import { beginRewrite, endRewrite } from '../store/leftovers.ts';
import {
  activeRunsOfPerson,
  deletedErasures,
  deleteOldErasures,
  type ErasedPerson,
  type ErasureRow,
  markDeleted,
  markErased,
  oldErasures,
  unfinishedErasures,
} from '../store/queries/erasures.ts';
import type { ScrubDepth } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type DeleteDeps, deleteRest } from './delete-rest.ts';
import { replaceEarly, replacePerson } from './replace-person.ts';

export interface ErasureLoopDeps extends Omit<DeleteDeps, 'isClosed'> {
  /** Cancels a run on any node, and waits a while for its end. */
  readonly cancelRun: (integrationId: IntegrationId, runId: RunId) => Promise<unknown>;
  /** Deletes what S3 received for closed forms of the integration. */
  readonly settleUploads: (integrationId: IntegrationId) => Promise<void>;
  /** True if no request, run or upload of the person still writes or deletes bytes, on any node. */
  readonly isClear: (person: ErasedPerson) => Promise<boolean>;
  /** Deletes bytes that dead nodes left, and bytes that this node could not delete before. */
  readonly deleteAbandoned: () => Promise<unknown>;
  /** Removes bytes of deleted rows from the database's files. Null if the database does so in its own time. */
  readonly scrub: ((depth: ScrubDepth) => Promise<void>) | null;
  /** The least time between two rewrites of the database. */
  readonly rewriteMs: number;
  readonly logger: Logger;
}

const POLL_MS = 5000;
/** The first pause of an erasure that waits for bytes. It doubles up to `POLL_MS`. */
const FIRST_WAIT_MS = 500;
/** After so many erasures the loop looks whose turn it is. */
const TURNS = 10;
/** One rewrite serves so many erasures. */
const SERVED = 10_000;
/** Erasures per transaction that marks them as finished. */
const MARKED = 100;
const CANCELS_TOGETHER = 8;
/** How long a finished erasure's status is kept (`contract-6-erasure-status`). */
const STATUS_MS = 30 * 86_400_000;
const MAX_RETRY_MS = 300_000;

interface Pause {
  readonly untilMs: number;
  readonly pauseMs: number;
}

/**
 * Executes the erasures that any node accepted, also a node that died. Every node does so: the steps are idempotent, and a
 * second node finds less to do.
 *
 *   look ──▶ E2 to E4 of each erasure, owners in turn ──▶ one scrub for all of them ──▶ marked as finished
 *                    │          ▲
 *           (bytes are pending) └── E2 to E4 once more
 *                    ▼          │
 *                  wait ──(none is pending)
 *
 * On the embedded store a scrub rewrites the whole database, and transactions wait for it. So an erasure with content waits
 * until the last rewrite is `rewriteMs` ago. One without content needs no rewrite: the statements that delete its rows
 * overwrite them, and only the write-ahead log is emptied.
 */
export class ErasureLoop implements AsyncDisposable {
  readonly #deps: ErasureLoopDeps;
  readonly #loop: WakeableLoop;
  /** Erasures that failed on this node: when to retry, and the pause before that. */
  readonly #failed = new Map<string, Pause>();
  /** Erasures that wait for pending bytes: when to look at them. */
  readonly #waiting = new Map<string, Pause>();
  #waitTimer: NodeJS.Timeout | undefined;
  /** When the current look began. Pauses count from here, so that erasures of one look are due together. */
  #lookedAtMs = 0;
  #rewriteAtMs = Number.NEGATIVE_INFINITY;
  #scrubPauseMs = POLL_MS / 2;

  constructor(deps: ErasureLoopDeps) {
    this.#deps = deps;
    this.#loop = new WakeableLoop(
      POLL_MS,
      () => this.#look(),
      (error) => deps.logger.warn({ err: error }, 'erasures could not be looked up; retrying'),
    );
  }

  start(): void {
    this.#loop.start();
    this.#loop.wake();
  }

  wake(): void {
    this.#loop.wake();
  }

  async #look(): Promise<void> {
    const { store, deleteAbandoned } = this.#deps;
    this.#lookedAtMs = performance.now();
    if ([...this.#waiting.values()].some((pause) => this.#isOver(pause))) await deleteAbandoned();
    await this.#deleteAll();
    this.#lookWhenOver();
    if (this.#loop.isClosed) return;
    await this.#finish();
    const until = Date.now() - STATUS_MS;
    if ((await store.reads.all(oldErasures, { until })).length === 0) return;
    await store.transact('erasure', (tx) => tx.run(deleteOldErasures, { until }));
  }

  async #deleteAll(): Promise<void> {
    const { store } = this.#deps;
    const tried = new Set<string>();
    while (!this.#loop.isClosed) {
      const waiting = await store.reads.all(unfinishedErasures, { limit: tried.size + TURNS });
      const untried = waiting.filter((erasure) => !tried.has(erasureKey(erasure)));
      if (untried.length === 0) return this.#forgetOthers(tried);
      for (const erasure of untried.slice(0, TURNS)) {
        if (this.#loop.isClosed) return;
        tried.add(erasureKey(erasure));
        await this.#try(erasure);
        await nextTurn();
      }
    }
  }

  /** Other nodes finish erasures too. `found`: the keys of the erasures that this look found. */
  #forgetOthers(found: ReadonlySet<string>): void {
    for (const pauses of [this.#failed, this.#waiting]) {
      for (const key of pauses.keys()) if (!found.has(key)) pauses.delete(key);
    }
  }

  /** An erasure that fails does not stop the others. */
  async #try(erasure: ErasureRow): Promise<void> {
    const { integration_id: integrationId, erased_id: erasedId } = erasure;
    const key = erasureKey(erasure);
    const failed = this.#failed.get(key);
    const waiting = this.#waiting.get(key);
    if (!this.#isOver(failed) || !this.#isOver(waiting)) return;
    try {
      if (await this.#delete(erasure, waiting !== undefined)) this.#waiting.delete(key);
      else this.#waiting.set(key, this.#longerPause(waiting, FIRST_WAIT_MS, POLL_MS));
      this.#failed.delete(key);
    } catch (error) {
      this.#failed.set(key, this.#longerPause(failed, POLL_MS, MAX_RETRY_MS));
      this.#waiting.delete(key);
      this.#deps.logger.error({ err: error, integrationId, erasedId }, 'an erasure failed; it is retried');
    }
  }

  #isOver(pause: Pause | undefined): boolean {
    return pause === undefined || pause.untilMs <= this.#lookedAtMs;
  }

  #longerPause(last: Pause | undefined, firstMs: number, maxMs: number): Pause {
    const pauseMs = last === undefined ? firstMs : Math.min(maxMs, 2 * last.pauseMs);
    return { untilMs: this.#lookedAtMs + pauseMs, pauseMs };
  }

  /**
   * E2 to E4. Stops early if a run of the person is still active, or if the server stops: the next look continues. Resolves to
   * false if the person's bytes are pending. An erasure that waits for them only looks: its steps would find nothing.
   */
  async #delete(erasure: ErasureRow, isWaiting: boolean): Promise<boolean> {
    const { store, ids, settleUploads, isClear } = this.#deps;
    const { integration_id: integrationId, erased_id: erasedId, started_at: startedAt } = erasure;
    const person = { integrationId, erasedId };
    const isClosed = () => this.#loop.isClosed;
    if (isWaiting && !(await isClear(person))) return false;
    if (await this.#cancelRuns(erasure)) await replaceEarly(store, ids, erasure, isClosed);
    if (isClosed() || !(await replacePerson(store, ids, erasure))) return true;
    await settleUploads(integrationId);
    await deleteRest({ ...this.#deps, isClosed }, person);
    if (isClosed()) return true;
    if (!(await isClear(person))) return false;
    await store.transact('erasure', (tx) => tx.run(markDeleted, { ...person, startedAt }));
    return true;
  }

  /** One timer for all erasures that wait. */
  #lookWhenOver(): void {
    clearTimeout(this.#waitTimer);
    const nextMs = Math.min(...Array.from(this.#waiting.values(), ({ untilMs }) => untilMs));
    if (this.#loop.isClosed || nextMs === Number.POSITIVE_INFINITY) return;
    // One more millisecond, because a timer can fire a little early.
    this.#waitTimer = setTimeout(() => this.#loop.wake(), Math.max(0, nextMs - performance.now()) + 1).unref();
  }

  /** E2: no run of the person can start, because the id is refused. Resolves to true if no run is active any more. */
  async #cancelRuns({ integration_id: integrationId, consumer_id: consumerId }: ErasureRow): Promise<boolean> {
    if (consumerId === null) return true;
    const { store, cancelRun } = this.#deps;
    const active = () => store.reads.all(activeRunsOfPerson, { integrationId, consumerId });
    const runs = await active();
    if (runs.length === 0) return true;
    await mapAtMost(CANCELS_TOGETHER, runs, ({ run_id: runId }) => cancelRun(integrationId, runId));
    return (await active()).length === 0;
  }

  /** Scrubs the database once's files for all erasures that wait for it, and marks them as finished. */
  async #finish(): Promise<void> {
    const { store, scrub, waitAt, rewriteMs, logger } = this.#deps;
    const deleted = await store.reads.all(deletedErasures, { limit: SERVED });
    if (scrub === null) return this.#markErased(deleted);
    const mayRewrite = performance.now() >= this.#rewriteAtMs;
    const served = mayRewrite ? deleted : deleted.filter((erasure) => erasure.has_content === 0);
    if (served.length === 0) return;
    const depth = served.some((erasure) => erasure.has_content === 1) ? 'file' : 'log';
    try {
      if (depth === 'file') await store.transact('erasure', (tx) => tx.run(beginRewrite, {}));
      waitAt?.('erasure-scrub.before');
      // After the last change of a row that contains something of these persons.
      await scrub(depth);
      waitAt?.('erasure-scrub.after');
      if (depth === 'file') await store.transact('erasure', (tx) => tx.run(endRewrite, {}));
    } catch (error) {
      this.#scrubPauseMs = Math.min(MAX_RETRY_MS, 2 * this.#scrubPauseMs);
      if (depth === 'file') this.#rewriteAtMs = performance.now() + this.#scrubPauseMs;
      logger.error({ err: error, erasures: served.length }, 'the database could not be scrubbed; it is retried');
      return;
    }
    this.#scrubPauseMs = POLL_MS / 2;
    if (depth === 'file') this.#rewriteAtMs = performance.now() + rewriteMs;
    await this.#markErased(served);
  }

  async #markErased(erasures: readonly ErasureRow[]): Promise<void> {
    const { store, logger } = this.#deps;
    for (let start = 0; start < erasures.length && !this.#loop.isClosed; start += MARKED) {
      const page = erasures.slice(start, start + MARKED);
      const marked = await store.transact('erasure', async (tx) => {
        const changed: ErasureRow[] = [];
        for (const erasure of page) {
          const { integration_id: integrationId, erased_id: erasedId, started_at: startedAt } = erasure;
          const end = { integrationId, erasedId, startedAt, now: Date.now() };
          if ((await tx.run(markErased, end)) === 1) changed.push(erasure);
        }
        return changed;
      });
      for (const { integration_id: integrationId, erased_id: erasedId } of marked) {
        logger.info({ integrationId, erasedId }, 'a member was erased');
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
    clearTimeout(this.#waitTimer);
  }
}

/** Another erasure of the same id begins at another time. */
const erasureKey = ({
  integration_id: integrationId,
  erased_id: erasedId,
  started_at: startedAt,
}: ErasureRow): string => `${integrationId} ${erasedId} ${startedAt}`;
