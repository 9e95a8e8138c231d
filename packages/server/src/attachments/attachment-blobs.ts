import { webcrypto } from 'node:crypto';
import { type BlobKey, type BlobStore, newBlobKey, sha256OfKey } from '../storage/blob-store.ts';
import { blobByHash, insertBlob, useBlob } from '../store/queries/attachments.ts';
import { first, type Reads, type Tx } from '../store/store.ts';

export interface HashedBytes {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** Bytes that are durable, and which nothing refers to yet. */
export interface KeptBlob {
  readonly sha256: string;
  readonly blobKey: BlobKey;
  readonly sizeBytes: number;
  /** Put under a name that the database does not know yet. */
  readonly isNew: boolean;
  readonly keptAt: number;
}

/** The bytes were swept, or may have been, before a message came to refer to them: they are to be kept again. */
export class BlobGone extends Error {
  override readonly name = 'BlobGone';
}

/** The bytes of an attachment cannot be had. The message is the end of a sentence about it, `remedy` says what to do. */
export class BlobUnavailable extends Error {
  override readonly name = 'BlobUnavailable';
  readonly remedy: string;
  /** They may be as good as ever: the store stumbled. */
  readonly passing: boolean;

  constructor(message: string, remedy = 'attach it again', options?: ErrorOptions & { readonly passing?: boolean }) {
    super(message, options);
    this.remedy = remedy;
    this.passing = options?.passing ?? false;
  }
}

/**
 * How long after they were kept a message may come to refer to them. A sweep deletes what is unknown to the database
 * after a day: a process that slept through that day between its put and its transaction starts over.
 */
const KEPT_FOR_MS = 3_600_000;

/** Off the main thread: 20 MiB take 14 ms. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const digest = await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Buffer.from(digest).toString('hex');
}

/**
 * What messages carry, as blobs. Before the transaction that refers to them their bytes are made durable; inside it the
 * message comes to refer to them; a sweep deletes what nothing refers to.
 */
export class AttachmentBlobs {
  readonly #reads: Reads;
  readonly #blobs: BlobStore;

  constructor(reads: Reads, blobs: BlobStore) {
    this.#reads = reads;
    this.#blobs = blobs;
  }

  /** Bytes that the integration has already are not written again. */
  async keep(integrationId: string, all: readonly HashedBytes[]): Promise<KeptBlob[]> {
    const kept = new Map<string, Promise<Pick<KeptBlob, 'blobKey' | 'isNew'>>>();
    const keptAt = Date.now();
    return await Promise.all(
      all.map(async ({ bytes, sha256 }) => {
        let one = kept.get(sha256);
        if (one === undefined) {
          one = this.#keepOne(integrationId, sha256, bytes);
          kept.set(sha256, one);
        }
        return { sha256, sizeBytes: bytes.length, keptAt, ...(await one) };
      }),
    );
  }

  async #keepOne(integrationId: string, sha256: string, bytes: Uint8Array) {
    const known = await first(this.#reads.all(blobByHash, { integrationId, sha256 }));
    if (known === undefined) {
      const blobKey = newBlobKey(sha256);
      await this.#blobs.put(blobKey, bytes);
      return { blobKey, isNew: true };
    }
    const blobKey = known.blob_key;
    // One that was lost or damaged is mended by whoever sends it again, for all messages that refer to it.
    if (!(await this.#blobs.holds(blobKey, bytes))) await this.#blobs.put(blobKey, bytes);
    return { blobKey, isNew: false };
  }

  /** Durable under a name that nobody is told of: for as long as a run needs them. What a crash leaves is swept. */
  async putAside(blobKey: BlobKey, bytes: Uint8Array): Promise<void> {
    await this.#blobs.put(blobKey, bytes);
  }

  async dropAside(blobKey: BlobKey): Promise<void> {
    await this.#blobs.delete(blobKey);
  }

  /** Whether they are there, as far as can be seen without reading them. */
  has({ blobKey, sizeBytes }: { readonly blobKey: BlobKey; readonly sizeBytes: number }): Promise<boolean> {
    return this.#blobs.has(blobKey, sizeBytes);
  }

  /** The bytes, checked. Throws `BlobUnavailable`. */
  async read({ blobKey, sizeBytes }: { readonly blobKey: BlobKey; readonly sizeBytes: number }): Promise<Uint8Array> {
    let bytes: Uint8Array | null;
    try {
      bytes = await this.#blobs.read(blobKey);
    } catch (error) {
      // Too many open files, or a disk that stumbles.
      const remedy = 'send the message again, and if that does not help, attach it again';
      throw new BlobUnavailable('cannot be read from the stored files now', remedy, { cause: error, passing: true });
    }
    if (bytes === null) throw new BlobUnavailable('is missing from the stored files');
    const isWhole = bytes.length === sizeBytes && (await sha256Of(bytes)) === sha256OfKey(blobKey);
    if (!isWhole) throw new BlobUnavailable('is damaged in the stored files');
    return bytes;
  }
}

/**
 * Within the transaction that refers to it: the blob is in use from its commit on. Throws `BlobGone`, or meets a unique
 * index where another has just made the same bytes known: then they are to be kept again, and the transaction repeated.
 */
export async function referToBlob(
  tx: Tx,
  { integrationId, now }: { readonly integrationId: string; readonly now: number },
  { sha256, blobKey, sizeBytes, isNew, keptAt }: KeptBlob,
): Promise<void> {
  if (now - keptAt > KEPT_FOR_MS) throw new BlobGone();
  if ((await tx.run(useBlob, { blobKey })) > 0) return;
  if (!isNew) throw new BlobGone();
  await tx.run(insertBlob, { integrationId, sha256, blobKey, sizeBytes, now });
}
