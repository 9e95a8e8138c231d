import { Sweep } from '@runwire/lib/sweep.ts';
import type { PendingBlobs } from '../files/pending-blobs.ts';
import type { BlobStore, ListedBlob } from '../storage/blob-store.ts';
import { noteLeftovers } from '../store/leftovers.ts';
import { deleteBlobRow, keepUsedBlob, knownBlobs, unusedBlobs } from '../store/queries/attachments.ts';
import { deleteFreedFile, freedFiles } from '../store/queries/files.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { DeletedIntegrations } from './deleted-integrations.ts';
import { releaseCopies } from './release-copies.ts';

export interface BlobSweepOptions {
  readonly sweepMs: number;
  /** How long a blob that no row refers to is kept. */
  readonly unusedBlobMs: number;
}

export interface BlobSweepDeps {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly pending: PendingBlobs;
  readonly logger: Logger;
}

const BATCH = 100;

/**
 * T7 for blobs: deletes blobs to which no message and no file has referred for a day.
 *
 * 1. Blobs of files that were replaced or deleted. No other file refers to them.
 * 2. Blobs of attachments that the database knows and no row refers to any more, because the chat or integration was deleted or the
 *    integration keeps no copies. One transaction checks the row again and deletes it; the bytes are deleted after the
 *    commit. If a request needs the same bytes concurrently, either it commits first, and the row is in use and stays, or
 *    it finds the row deleted in its own transaction and stores the bytes again under a new key. A key is never used
 *    twice, so the delete of the bytes hits nothing else.
 * 3. Blobs that were pending when their node died (`PendingBlobs`).
 * 4. Blobs that the database does not know: a node of an earlier version put them, or a sweep died between its commit and its
 *    delete. Only the request that put a blob can refer to it, and only within an hour (`referToBlob`), so after a day no
 *    request will. This needs a listing of the blob store, so it happens once a day and not at every sweep.
 */
export class BlobSweep extends Sweep {
  readonly #store: Store;
  readonly #blobs: BlobStore;
  readonly #pending: PendingBlobs;
  readonly #options: BlobSweepOptions;
  readonly #logger: Logger;
  readonly #deleted: DeletedIntegrations;
  #listedAt = Number.NEGATIVE_INFINITY;

  constructor({ store, blobs, pending, logger }: BlobSweepDeps, options: BlobSweepOptions) {
    super(options.sweepMs, 'stored files', logger);
    this.#store = store;
    this.#blobs = blobs;
    this.#pending = pending;
    this.#options = options;
    this.#logger = logger;
    this.#deleted = new DeletedIntegrations(store, logger);
  }

  /** Resolves to the number of deleted blobs. */
  protected override async sweepOnce(): Promise<number> {
    const isClosed = () => this.isClosed;
    await releaseCopies(this.#store, this.#logger, isClosed);
    const until = Date.now() - this.#options.unusedBlobMs;
    await this.#deleted.deleteAttachments(until, isClosed);
    let count = await this.#pending.deleteAbandoned();
    count += await this.#sweepFreed(until);
    count += await this.#sweepUnused(until);
    if (performance.now() - this.#listedAt >= this.#options.unusedBlobMs) {
      const began = performance.now();
      count += await this.#sweepUnknown(until);
      this.#listedAt = began;
    }
    if (count > 0) this.#logger.info({ blobs: count }, 'unreferenced files were deleted');
    return count;
  }

  async #sweepFreed(until: number): Promise<number> {
    let count = 0;
    while (!this.isClosed) {
      const files = await this.#store.reads.all(freedFiles, { until, limit: BATCH });
      if (files.length === 0) break;
      const keys = files.flatMap((file) => [file.blob_key, file.text_key]).filter((key) => key !== null);
      for (const key of keys) await this.#blobs.delete(key);
      await this.#store.transact('sweep', async (tx) => {
        await noteLeftovers(
          this.#store,
          tx,
          files.map((file) => file.integration_id),
        );
        for (const { blob_key: blobKey } of files) await tx.run(deleteFreedFile, { blobKey });
      });
      count += keys.length;
    }
    return count;
  }

  async #sweepUnused(until: number): Promise<number> {
    let count = 0;
    while (!this.isClosed) {
      const rows = await this.#store.reads.all(unusedBlobs, { until, limit: BATCH });
      if (rows.length === 0) break;
      const forgotten = await Promise.all(rows.map(({ blob_key: blobKey }) => this.#forget(blobKey, until)));
      for (const [index, { blob_key: blobKey }] of rows.entries()) {
        if (forgotten[index] !== true) continue;
        await this.#blobs.delete(blobKey);
        count += 1;
      }
    }
    return count;
  }

  #forget(blobKey: string, until: number): Promise<boolean> {
    return this.#store.transact('sweep', async (tx) => {
      if ((await tx.run(deleteBlobRow, { blobKey, until })) === 1) return true;
      await tx.run(keepUsedBlob, { blobKey });
      return false;
    });
  }

  async #sweepUnknown(until: number): Promise<number> {
    let count = 0;
    let batch: ListedBlob[] = [];
    const sweepBatch = async () => {
      if (batch.length === 0) return;
      const rows = await this.#store.reads.query(knownBlobs(batch.map(({ key }) => key)));
      const known = new Set(rows.map((row) => row.blob_key));
      for (const { key } of batch) {
        if (known.has(key)) continue;
        await this.#blobs.delete(key);
        count += 1;
      }
      batch = [];
    };
    for await (const blob of this.#blobs.list()) {
      if (this.isClosed) return count;
      if (blob.putAt > until) continue;
      batch.push(blob);
      if (batch.length === BATCH) await sweepBatch();
    }
    await sweepBatch();
    return count;
  }
}
