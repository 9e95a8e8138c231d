import { randomBytes } from 'node:crypto';

/**
 * A blob's name. It is random and used only once, so a delete cannot remove a later put of the same bytes. The name of
 * an attachment's blob begins with its bytes' hash. The database knows which names are in use and for whom.
 */
export type BlobKey = string;

/** For an attachment's copy: the name tells its bytes. */
export function newBlobKey(sha256: string): BlobKey {
  return `${sha256}-${randomBytes(8).toString('hex')}`;
}

/** For bytes whose hash is not known before they are stored. */
export const newFileBlobKey = (): BlobKey => randomBytes(24).toString('hex');

const KEY = /^(?:[0-9a-f]{64}-[0-9a-f]{16}|[0-9a-f]{48})$/;

export const isBlobKey = (text: string): boolean => KEY.test(text);

/** The key becomes a path, so no other text may pass. */
export function checkBlobKey(key: BlobKey): BlobKey {
  if (isBlobKey(key)) return key;
  throw new Error(`\`${key}\` is not the key of a blob.`);
}

/** False if the name is only random. */
export const tellsHash = (key: BlobKey): boolean => key.includes('-');

/** Only for a key that tells the hash. */
export const sha256OfKey = (key: BlobKey) => key.slice(0, 64);

/**
 * A row refers to a new blob within this time, or never. The sweep deletes blobs that no row refers to after a day, so a
 * process that was stopped for long must not use its blob any more.
 */
export const MAX_UNREFERRED_MS = 3_600_000;

/** First and last byte, both inclusive. `last` may be after the end of the file. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

export interface ListedBlob {
  readonly key: BlobKey;
  /** When the blob was stored, in milliseconds since 1970. */
  readonly putAt: number;
}

/** Bytes that were stored from a stream. */
export interface WrittenBytes {
  readonly size: number;
  /** In hexadecimal digits. */
  readonly md5: string;
}

export interface OpenedBlob extends AsyncDisposable {
  /** The whole blob's size. */
  readonly size: number;
  /** Can be read once. Disposing stops the read. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface BlobStore {
  /**
   * Stores a blob completely or not at all, and replaces an existing one. It is durable when this resolves. Rejects
   * with `StoreUnavailable` if a later retry can succeed.
   */
  put(key: BlobKey, bytes: Uint8Array): Promise<void>;
  /**
   * Does the same with bytes that arrive as a stream. If the stream throws, rejects with that error and stores nothing. The
   * memory that it needs does not depend on the size.
   */
  write(key: BlobKey, bytes: AsyncIterable<Uint8Array>): Promise<WrittenBytes>;
  /** Opens a blob, or a part of it. A range after the end has no bytes. Resolves to null if the blob does not exist. */
  open(key: BlobKey, range?: ByteRange): Promise<OpenedBlob | null>;
  /** Resolves to null if the blob does not exist. */
  read(key: BlobKey): Promise<Uint8Array | null>;
  /** True if the blob has exactly these bytes. It makes no second copy of them in memory. */
  holds(key: BlobKey, bytes: Uint8Array): Promise<boolean>;
  /** True if the blob exists with this size. The bytes are not read. */
  has(key: BlobKey, sizeBytes: number): Promise<boolean>;
  /** Idempotent. */
  delete(key: BlobKey): Promise<void>;
  /** Deletes the blob, and what a process that died while it stored the blob left on this machine. Idempotent. */
  deleteUnfinished(key: BlobKey): Promise<void>;
  /**
   * Lists all blobs that exist during the whole listing. Blobs that are added or deleted during the listing may be
   * included.
   */
  list(): AsyncIterable<ListedBlob>;
}
