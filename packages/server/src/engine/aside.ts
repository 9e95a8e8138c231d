import type { AttachmentBlobs } from '../attachments/attachment-blobs.ts';
import { inTime } from '../lib/in-time.ts';
import type { BlobKey } from '../storage/blob-store.ts';
import type { Logger } from '../telemetry/logger.ts';

type AsideBlobs = Pick<AttachmentBlobs, 'putAside' | 'dropAside'>;

/** What one run has put aside for itself alone, under names that nobody else is told of. */
export class Aside {
  readonly #blobs: AsideBlobs;
  readonly #puts = new Map<BlobKey, Promise<void>>();

  constructor(blobs: AsideBlobs) {
    this.#blobs = blobs;
  }

  put(blobKey: BlobKey, bytes: Uint8Array): Promise<void> {
    const put = this.#blobs.putAside(blobKey, bytes);
    this.#puts.set(blobKey, put);
    return put;
  }

  get isEmpty(): boolean {
    return this.#puts.size === 0;
  }

  /** Each behind its put, which a run that stops does not wait for: put after its delete, it would stay. */
  async drop(): Promise<void> {
    const puts = [...this.#puts];
    this.#puts.clear();
    const dropped = puts.map(async ([blobKey, put]) => {
      await put.catch(() => {});
      await this.#blobs.dropAside(blobKey);
    });
    await Promise.all(dropped);
  }
}

/** What the end of this process waits for them. */
const PATIENCE_MS = 1000;

/**
 * What runs had put aside goes when they are over. No run waits for that: where the blobs are away, its end is stored and
 * told all the same. What stays is swept.
 */
export class AsideDrops implements AsyncDisposable {
  readonly #logger: Logger;
  readonly #underWay = new Set<Promise<void>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  drop(aside: Aside, runId: string): void {
    if (aside.isEmpty) return;
    const dropped = aside
      .drop()
      .catch((error: unknown) => {
        this.#logger.warn({ err: error, runId }, 'what a run had fetched stays until it is swept');
      })
      .finally(() => this.#underWay.delete(dropped));
    this.#underWay.add(dropped);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = Promise.all(this.#underWay).then(() => {});
    await inTime(all, PATIENCE_MS, () => {
      this.#logger.warn({ runs: this.#underWay.size }, 'what runs had fetched stays until it is swept');
    });
  }
}
