import { webcrypto } from 'node:crypto';
import { type BlobKey, type BlobStore, MAX_UNREFERRED_MS, newBlobKey, sha256OfKey } from '../storage/blob-store.ts';
import { blobByHash, insertBlob, useBlob } from '../store/queries/attachments.ts';
import { first, type Reads, type Tx } from '../store/store.ts';

/** Bytes that are durable in the blob store and that no row refers to yet. */
export interface StoredBlob {
  readonly sha256: string;
  readonly blobKey: BlobKey;
  readonly sizeBytes: number;
  /** True if the database does not know the key yet. */
  readonly isNew: boolean;
  readonly storedAt: number;
}

/** The sweep has deleted the bytes, or may have, before a row referred to them. The caller stores them again. */
export class BlobGone extends Error {
  override readonly name = 'BlobGone';
}

/**
 * The bytes of an attachment cannot be read. The message ends a sentence about the attachment; `remedy` is the advice
 * to the caller.
 */
export class BlobUnavailable extends Error {
  override readonly name = 'BlobUnavailable';
  readonly remedy: string;
  /** True if the blob store failed to answer: the bytes may be intact. */
  readonly mayRetry: boolean;

  constructor(message: string, remedy = 'attach it again', options?: ErrorOptions & { readonly mayRetry?: boolean }) {
    super(message, options);
    this.remedy = remedy;
    this.mayRetry = options?.mayRetry ?? false;
  }
}

/** Computed off the main thread, because 20 MiB take 14 ms. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const digest = await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Buffer.from(digest).toString('hex');
}

/**
 * The bytes of attachments as blobs. They become durable before the transaction that refers to them, and the sweep
 * deletes the blobs that no row refers to.
 */
export class AttachmentBlobs {
  readonly #reads: Reads;
  readonly #blobs: BlobStore;

  constructor(reads: Reads, blobs: BlobStore) {
    this.#reads = reads;
    this.#blobs = blobs;
  }

  /** Returns the blobs by their hash. Bytes that the integration has stored before are not written again. */
  async store(
    integrationId: string,
    contents: readonly { readonly sha256: string; readonly bytes: Uint8Array }[],
  ): Promise<ReadonlyMap<string, StoredBlob>> {
    const storedAt = Date.now();
    const bytesByHash = new Map(contents.map(({ sha256, bytes }) => [sha256, bytes]));
    const blobs = await Promise.all(
      [...bytesByHash].map(async ([sha256, bytes]) => {
        const stored = await this.#storeOne(integrationId, sha256, bytes);
        return { sha256, sizeBytes: bytes.length, storedAt, ...stored };
      }),
    );
    return new Map(blobs.map((blob) => [blob.sha256, blob]));
  }

  async #storeOne(integrationId: string, sha256: string, bytes: Uint8Array) {
    const known = await first(this.#reads.all(blobByHash, { integrationId, sha256 }));
    if (known === undefined) {
      const blobKey = newBlobKey(sha256);
      await this.#blobs.put(blobKey, bytes);
      return { blobKey, isNew: true };
    }
    const blobKey = known.blob_key;
    // If the blob was lost or damaged, this put repairs it for every message that refers to it.
    if (!(await this.#blobs.holds(blobKey, bytes))) await this.#blobs.put(blobKey, bytes);
    return { blobKey, isNew: false };
  }

  /** Stores bytes for one run, under a key that the database never learns. The sweep deletes what a crash leaves. */
  async putScratch(blobKey: BlobKey, bytes: Uint8Array): Promise<void> {
    await this.#blobs.put(blobKey, bytes);
  }

  async deleteScratch(blobKey: BlobKey): Promise<void> {
    await this.#blobs.delete(blobKey);
  }

  /** True if a blob of this size exists. Its bytes are not read. */
  has({ blobKey, sizeBytes }: { readonly blobKey: BlobKey; readonly sizeBytes: number }): Promise<boolean> {
    return this.#blobs.has(blobKey, sizeBytes);
  }

  /** Reads the bytes and checks their hash. Throws `BlobUnavailable`. */
  async read({ blobKey, sizeBytes }: { readonly blobKey: BlobKey; readonly sizeBytes: number }): Promise<Uint8Array> {
    let bytes: Uint8Array | null;
    try {
      bytes = await this.#blobs.read(blobKey);
    } catch (error) {
      // For example too many open files, or a disk error.
      const remedy = 'send the message again, and if that does not help, attach it again';
      throw new BlobUnavailable('cannot be read from the stored files now', remedy, { cause: error, mayRetry: true });
    }
    if (bytes === null) throw new BlobUnavailable('is missing from the stored files');
    const isWhole = bytes.length === sizeBytes && (await sha256Of(bytes)) === sha256OfKey(blobKey);
    if (!isWhole) throw new BlobUnavailable('is damaged in the stored files');
    return bytes;
  }
}

/**
 * Marks the blob as used, in the transaction that refers to it. Throws `BlobGone`, or `UniqueViolation` if another
 * request has just inserted a blob with the same bytes. In both cases the caller stores the bytes again and repeats the
 * transaction.
 */
export async function referToBlob(
  tx: Tx,
  { integrationId, now }: { readonly integrationId: string; readonly now: number },
  { sha256, blobKey, sizeBytes, isNew, storedAt }: StoredBlob,
): Promise<void> {
  if (now - storedAt > MAX_UNREFERRED_MS) throw new BlobGone();
  if ((await tx.run(useBlob, { blobKey })) > 0) return;
  if (!isNew) throw new BlobGone();
  await tx.run(insertBlob, { integrationId, sha256, blobKey, sizeBytes, now });
}
