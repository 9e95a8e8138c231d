import { webcrypto } from 'node:crypto';
import type { IntegrationId } from '../domain/ids.ts';
import { BlobGone, type PendingBatch, type PendingBlobs } from '../files/pending-blobs.ts';
import {
  type BlobKey,
  type BlobStore,
  MAX_UNREFERRED_MS,
  newBlobKey,
  type OpenedBlob,
  sha256OfKey,
} from '../storage/blob-store.ts';
import { blobByHash, insertBlob, useBlob } from '../store/queries/attachments.ts';
import { first, type Reads, type Tx } from '../store/store.ts';

/** A member whose request or run stores bytes. `check` throws if it may not any more: see `PendingBlobs.begin`. */
export interface BlobWriter {
  readonly integrationId: IntegrationId;
  readonly consumerId: string | null;
  readonly check: (tx: Tx) => Promise<void>;
}

/** Blobs that are durable. The new ones are pending until a transaction refers to them. */
export interface StoredBlobs {
  readonly byHash: ReadonlyMap<string, StoredBlob>;
  /** Null if all blobs were stored before. */
  readonly batch: PendingBatch | null;
}

/** Bytes that are durable in the blob store and that no row refers to yet. */
export interface StoredBlob {
  readonly sha256: string;
  readonly blobKey: BlobKey;
  readonly sizeBytes: number;
  /** True if the database does not know the key yet. */
  readonly isNew: boolean;
  readonly storedAt: number;
}

/**
 * An attachment's bytes cannot be read. The message ends a sentence about the attachment; `remedy` is the advice
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
export async function getSha256(bytes: Uint8Array): Promise<string> {
  const digest = await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Buffer.from(digest).toString('hex');
}

/**
 * The attachment bytes as blobs. They become durable before the transaction that refers to them, and the sweep
 * deletes the blobs that no row refers to.
 */
export class AttachmentBlobs {
  readonly #reads: Reads;
  readonly #blobs: BlobStore;
  readonly #pending: PendingBlobs;

  constructor(reads: Reads, blobs: BlobStore, pending: PendingBlobs) {
    this.#reads = reads;
    this.#blobs = blobs;
    this.#pending = pending;
  }

  /** Returns the blobs by their hash. Bytes that the integration has stored before are not written again. */
  async store(
    { integrationId, consumerId, check }: BlobWriter,
    contents: readonly { readonly sha256: string; readonly bytes: Uint8Array }[],
  ): Promise<StoredBlobs> {
    const storedAt = Date.now();
    const bytesByHash = new Map(contents.map(({ sha256, bytes }) => [sha256, bytes]));
    const blobs = await Promise.all(
      [...bytesByHash].map(async ([sha256, bytes]) => {
        const known = await first(this.#reads.all(blobByHash, { integrationId, sha256 }));
        const blobKey = known?.blob_key ?? newBlobKey(sha256);
        return { sha256, blobKey, isNew: known === undefined, bytes };
      }),
    );
    const keys = blobs.filter(({ isNew }) => isNew).map(({ blobKey }) => blobKey);
    const owner = { integrationId, consumerId, path: null };
    const batch = keys.length === 0 ? null : await this.#pending.begin(keys, owner, check);
    const puts = await Promise.allSettled(
      blobs.map(async ({ blobKey, isNew, bytes }) => {
        // If a known blob was lost or damaged, this put repairs it for every message that refers to it.
        if (isNew || !(await this.#blobs.holds(blobKey, bytes))) await this.#blobs.put(blobKey, bytes);
      }),
    );
    const failed = puts.find((put) => put.status === 'rejected');
    if (failed !== undefined) {
      await this.abandon({ batch }, failed.reason);
      throw failed.reason;
    }
    const byHash = blobs.map(({ bytes, ...blob }) => ({ ...blob, sizeBytes: bytes.length, storedAt }));
    return { byHash: new Map(byHash.map((blob) => [blob.sha256, blob])), batch };
  }

  /** Deletes the new blobs, unless a row refers to them. */
  async abandon({ batch }: Pick<StoredBlobs, 'batch'>, reason?: unknown): Promise<void> {
    if (batch !== null) await this.#pending.abandon(batch, reason);
  }

  /** Stores bytes for one run, under a key that no row ever refers to. Resolves to the batch to abandon. */
  async putScratch(
    { integrationId, consumerId, check }: BlobWriter,
    blobKey: BlobKey,
    bytes: Uint8Array,
  ): Promise<PendingBatch> {
    const batch = await this.#pending.begin([blobKey], { integrationId, consumerId, path: null }, check);
    try {
      await this.#blobs.put(blobKey, bytes);
    } catch (error) {
      await this.#pending.abandon(batch, error);
      throw error;
    }
    return batch;
  }

  /** True if a blob of this size exists. Its bytes are not read. */
  has({ blobKey, sizeBytes }: { readonly blobKey: BlobKey; readonly sizeBytes: number }): Promise<boolean> {
    return this.#blobs.has(blobKey, sizeBytes);
  }

  /** Opens the bytes to stream them. Resolves to null if they are missing. */
  open(blobKey: BlobKey): Promise<OpenedBlob | null> {
    return this.#blobs.open(blobKey);
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
    const isWhole = bytes.length === sizeBytes && (await getSha256(bytes)) === sha256OfKey(blobKey);
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
  { integrationId, now }: { readonly integrationId: IntegrationId; readonly now: number },
  { sha256, blobKey, sizeBytes, isNew, storedAt }: StoredBlob,
): Promise<void> {
  if (now - storedAt > MAX_UNREFERRED_MS) throw new BlobGone();
  if ((await tx.run(useBlob, { blobKey })) > 0) return;
  if (!isNew) throw new BlobGone();
  await tx.run(insertBlob, {
    integration_id: integrationId,
    sha256,
    blob_key: blobKey,
    size_bytes: sizeBytes,
    created_at: now,
  });
}
