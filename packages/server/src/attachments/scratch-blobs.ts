import { withTimeout } from '@runwire/lib/with-timeout.ts';
import type { RunId } from '../domain/ids.ts';
import type { PendingBatch } from '../files/pending-blobs.ts';
import type { BlobKey } from '../storage/blob-store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { AttachmentBlobs, BlobWriter } from './attachment-blobs.ts';

type ScratchStore = Pick<AttachmentBlobs, 'putScratch' | 'abandon'>;

/** The blobs that one run has stored only for itself, because its integration keeps no copies. */
export class ScratchBlobs {
  readonly #blobs: ScratchStore;
  readonly #puts: Promise<PendingBatch>[] = [];

  constructor(blobs: ScratchStore) {
    this.#blobs = blobs;
  }

  async put(writer: BlobWriter, blobKey: BlobKey, bytes: Uint8Array): Promise<void> {
    const put = this.#blobs.putScratch(writer, blobKey, bytes);
    this.#puts.push(put);
    await put;
  }

  get isEmpty(): boolean {
    return this.#puts.length === 0;
  }

  /**
   * Deletes every blob after its put has finished. A run that stops does not wait for its puts, and a put that finishes
   * after the delete would leave an unused blob.
   */
  async delete(): Promise<void> {
    const deletes = this.#puts.splice(0).map(async (put) => {
      // A put that failed has deleted its blob.
      const batch = await put.catch(() => null);
      await this.#blobs.abandon({ batch });
    });
    await Promise.all(deletes);
  }
}

/** How long a server that stops waits for the deletes. */
const STOP_TIMEOUT_MS = 1000;

/**
 * Deletes the scratch blobs of runs that have ended. No run waits for that: if the blob store is unavailable, the end of
 * the run is stored and sent all the same. The sweep deletes what remains.
 */
export class ScratchCleanup implements AsyncDisposable {
  readonly #logger: Logger;
  readonly #deletes = new Set<Promise<void>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  delete(scratch: ScratchBlobs, runId: RunId): void {
    if (scratch.isEmpty) return;
    const deleted = scratch
      .delete()
      .catch((error: unknown) => {
        this.#logger.warn({ err: error, runId }, 'files that a run fetched were not deleted; the sweep deletes them');
      })
      .finally(() => this.#deletes.delete(deleted));
    this.#deletes.add(deleted);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = Promise.all(this.#deletes).then(() => {});
    await withTimeout(all, STOP_TIMEOUT_MS, () => {
      const runs = this.#deletes.size;
      this.#logger.warn({ runs }, 'files that runs fetched were not deleted before the stop; the sweep deletes them');
    });
  }
}
