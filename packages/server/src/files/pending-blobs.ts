import type { ErasedIds } from '../domain/account/erased-ids.ts';
import type { MountPath } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { newId } from '../domain/ids.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { BlobKey, BlobStore } from '../storage/blob-store.ts';
import { knownBlobs } from '../store/queries/attachments.ts';
import type { ErasedPerson } from '../store/queries/erasures.ts';
import { storedPath } from '../store/queries/files.ts';
import {
  abandonPending,
  claimPending,
  deadPending,
  forgetPending,
  insertPending,
  pendingOfPerson,
} from '../store/queries/pending-blobs.ts';
import type { Store, Tx } from '../store/store.ts';
import type { ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';

/** The blobs were abandoned before a row referred to them. The caller stores the bytes again. */
export class BlobGone extends Error {
  override readonly name = 'BlobGone';
}

/** Whom the bytes belong to: an erasure of that person waits for them. */
export interface BlobOwner {
  readonly integrationId: IntegrationId;
  /** Null if the bytes belong to no member, or if the path tells. */
  readonly consumerId: string | null;
  /** The file that the bytes are for; null if a run makes it, or if there is none. */
  readonly path: MountPath | null;
}

/** Blobs that are written together, and that one transaction will refer to. */
export interface PendingBatch {
  readonly batchId: string;
  readonly keys: readonly BlobKey[];
}

export interface PendingBlobsDeps {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly ids: ErasedIds;
  readonly node: ThisNode;
  readonly logger: Logger;
}

const BATCH = 100;

/**
 * Blobs that are written before the transaction that refers to them. A row names them before the first byte is written:
 *
 *   (begin) ──▶ pending ──(claimed by the transaction that refers to them)──▶ in use
 *                  └──(refused, cancelled, or the node died)──▶ abandoned ──▶ bytes deleted ──▶ row deleted
 *
 * An erasure waits until no blob of its person is pending. The keys are new, so no other request can refer to these blobs
 * before they are in use.
 */
export class PendingBlobs {
  readonly #deps: PendingBlobsDeps;
  /** Abandoned batches that could not be deleted yet. */
  readonly #undeleted = new Map<string, PendingBatch>();

  constructor(deps: PendingBlobsDeps) {
    this.#deps = deps;
  }

  /**
   * Records the keys before their bytes are written. `check` runs in the same transaction: it locks what an erasure of the
   * person changes, and throws if the person is refused by now. So a batch exists before the erasure looks, or never.
   */
  async begin(
    keys: readonly BlobKey[],
    { integrationId, consumerId, path }: BlobOwner,
    check: (tx: Tx) => Promise<void>,
  ): Promise<PendingBatch> {
    const { store, ids, node } = this.#deps;
    const batchId = newId('blobs');
    const row = {
      batch_id: batchId,
      node_id: node.nodeId,
      integration_id: integrationId,
      erased_id: consumerId === null ? null : ids.consumer(integrationId, consumerId),
      path: path === null ? null : storedPath(path),
      keys_json: JSON.stringify(keys),
    };
    try {
      await store.transact('pending', async (tx) => {
        await check(tx);
        await tx.run(insertPending, row);
      });
    } catch (error) {
      // If the store was unavailable, the row may exist. No byte does.
      if (error instanceof StoreUnavailable) void this.#abandon({ batchId, keys: [] });
      throw error;
    }
    return { batchId, keys };
  }

  /**
   * Deletes the blobs, unless a row refers to them. So the caller need not know whether its transaction has committed. Call it
   * after all writes of the batch have ended. Never rejects: if it fails, it is retried. Does not wait if the store was
   * unavailable to the caller.
   */
  async abandon(batch: PendingBatch, reason?: unknown): Promise<void> {
    const deleted = this.#abandon(batch);
    if (!(reason instanceof StoreUnavailable)) await deleted;
  }

  async #abandon(batch: PendingBatch): Promise<void> {
    this.#undeleted.set(batch.batchId, batch);
    await this.#tryDelete(batch, (key) => this.#deps.blobs.delete(key));
  }

  /** Resolves to false if the blobs could not be deleted. */
  async #tryDelete(batch: PendingBatch, deleteBlob: (key: BlobKey) => Promise<void>): Promise<boolean> {
    try {
      await this.#delete(batch, deleteBlob);
      return true;
    } catch (error) {
      this.#deps.logger.warn({ err: error }, 'files of a request or run that ended were not deleted; retrying');
      return false;
    }
  }

  async #delete({ batchId, keys }: PendingBatch, deleteBlob: (key: BlobKey) => Promise<void>): Promise<void> {
    const { store } = this.#deps;
    const isPending = (await store.transact('pending', (tx) => tx.run(abandonPending, { batchId }))) === 1;
    // Without the row, the blobs are in use, or another node took this one for dead while it wrote them.
    for (let start = 0; start < keys.length; start += BATCH) {
      const page = keys.slice(start, start + BATCH);
      const used = isPending ? [] : await store.reads.query(knownBlobs(page));
      for (const key of page) if (!used.some((row) => row.blob_key === key)) await deleteBlob(key);
    }
    if (isPending) await store.transact('pending', (tx) => tx.run(forgetPending, { batchId }));
    this.#undeleted.delete(batchId);
  }

  /** Deletes the blobs that dead nodes left, and the blobs that this node could not delete before. Resolves to their number. */
  async deleteAbandoned(): Promise<number> {
    const { blobs } = this.#deps;
    let count = 0;
    for (const batch of [...this.#undeleted.values()]) {
      if (await this.#tryDelete(batch, (key) => blobs.delete(key))) count += batch.keys.length;
    }
    for (let areAllDeleted = true; areAllDeleted; ) {
      const rows = await this.#deps.store.reads.all(deadPending, { limit: BATCH });
      for (const { batch_id: batchId, keys_json: keysJson } of rows) {
        const keys = JSON.parse(keysJson) as BlobKey[];
        if (await this.#tryDelete({ batchId, keys }, (key) => blobs.deleteUnfinished(key))) count += keys.length;
        // The next page would begin with the same row.
        else areAllDeleted = false;
      }
      if (rows.length < BATCH) break;
    }
    return count;
  }

  /** True if no blob of the person is pending on any node. */
  async isClear(person: ErasedPerson): Promise<boolean> {
    return (await this.#deps.store.reads.all(pendingOfPerson, person)).length === 0;
  }
}

/** Call it in the transaction that refers to the batch's blobs. Throws `BlobGone`. */
export async function claimBlobs(tx: Tx, { batchId }: PendingBatch): Promise<void> {
  if ((await tx.run(claimPending, { batchId })) !== 1) throw new BlobGone();
}
