import { mapAtMost } from '../lib/map-concurrently.ts';
import { WakeableLoop } from '../lib/wakeable-loop.ts';
import {
  activeRunsOfPerson,
  deleteOldErasures,
  type ErasureRow,
  markErased,
  oldErasures,
  unfinishedErasures,
} from '../store/queries/erasures.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type DeleteDeps, deleteRest } from './delete-rest.ts';
import { replacePerson } from './replace-person.ts';

export interface ErasureLoopDeps extends Omit<DeleteDeps, 'isClosed'> {
  /** Cancels a run on any node, and waits a while for its end. */
  readonly cancelRun: (integrationId: string, runId: string) => Promise<unknown>;
  /** Deletes what S3 received for closed forms of the integration. */
  readonly settleUploads: (integrationId: string) => Promise<void>;
  /** Removes the bytes of deleted rows from the files of the database. */
  readonly scrub: () => Promise<void>;
  readonly logger: Logger;
}

const POLL_MS = 5000;
const BATCH = 100;
const CANCELS_TOGETHER = 8;
/** How long the status of a finished erasure is kept (`contract-6-erasure-status`). */
const STATUS_MS = 30 * 86_400_000;
const MAX_RETRY_MS = 300_000;

/**
 * Executes the erasures that any node accepted, also a node that died. Every node does so: the steps are idempotent, and a
 * second node finds less to do.
 */
export class ErasureLoop implements AsyncDisposable {
  readonly #deps: ErasureLoopDeps;
  readonly #loop: WakeableLoop;
  /** Erasures that failed on this node: when to retry, and the pause before that. */
  readonly #failed = new Map<string, { readonly retryAtMs: number; readonly pauseMs: number }>();

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
    const { store } = this.#deps;
    for (const erasure of await store.reads.all(unfinishedErasures, { limit: BATCH })) {
      if (this.#loop.isClosed) return;
      await this.#try(erasure);
    }
    const until = Date.now() - STATUS_MS;
    if ((await store.reads.all(oldErasures, { until })).length === 0) return;
    await store.transact('erasure', (tx) => tx.run(deleteOldErasures, { until }));
  }

  /** An erasure that fails does not stop the others. */
  async #try(erasure: ErasureRow): Promise<void> {
    const { integration_id: integrationId, erased_id: erasedId } = erasure;
    const failed = this.#failed.get(erasedId);
    if (failed !== undefined && failed.retryAtMs > performance.now()) return;
    try {
      const isErased = await this.#erase(erasure);
      this.#failed.delete(erasedId);
      if (isErased) this.#deps.logger.info({ integrationId, erasedId }, 'a member was erased');
    } catch (error) {
      const pauseMs = Math.min(MAX_RETRY_MS, 2 * (failed?.pauseMs ?? POLL_MS / 2));
      this.#failed.set(erasedId, { retryAtMs: performance.now() + pauseMs, pauseMs });
      this.#deps.logger.error({ err: error, integrationId, erasedId }, 'an erasure failed; it is retried');
    }
  }

  /** Resolves to false if the erasure is not finished yet: a run is still active, or the server stops. */
  async #erase(erasure: ErasureRow): Promise<boolean> {
    const { store, ids, settleUploads, scrub, waitAt } = this.#deps;
    const { integration_id: integrationId, erased_id: erasedId, started_at: startedAt } = erasure;
    const isClosed = () => this.#loop.isClosed;
    await this.#cancelRuns(erasure);
    if (isClosed() || !(await replacePerson(store, ids, erasure))) return false;
    await settleUploads(integrationId);
    await deleteRest({ ...this.#deps, isClosed }, { integrationId, erasedId });
    if (isClosed()) return false;
    waitAt?.('erasure-scrub.before');
    // After the last change of a row that contains something of the person.
    await scrub();
    waitAt?.('erasure-scrub.after');
    const changed = await store.transact('erasure', (tx) =>
      tx.run(markErased, { integrationId, erasedId, startedAt, now: Date.now() }),
    );
    return changed === 1;
  }

  /** E2: no run of the person can start, because the id is refused. */
  async #cancelRuns({ integration_id: integrationId, consumer_id: consumerId }: ErasureRow): Promise<void> {
    if (consumerId === null) return;
    const { store, cancelRun } = this.#deps;
    const runs = await store.reads.all(activeRunsOfPerson, { integrationId, consumerId });
    await mapAtMost(CANCELS_TOGETHER, runs, ({ run_id: runId }) => cancelRun(integrationId, runId));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }
}
