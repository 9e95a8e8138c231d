import { randomBytes } from 'node:crypto';

/**
 * The name of a blob, used only once. It begins with the hash of the bytes, so that they can be checked, and ends with
 * random characters: a deleted name is never used again, so a delete cannot remove a later put of the same bytes. The
 * database knows which names are in use and for whom.
 */
export type BlobKey = string;

export function newBlobKey(sha256: string): BlobKey {
  return `${sha256}-${randomBytes(8).toString('hex')}`;
}

const KEY = /^[0-9a-f]{64}-[0-9a-f]{16}$/;

export const isBlobKey = (text: string): boolean => KEY.test(text);

/** The key becomes a path, so no other text may pass. */
export function checkBlobKey(key: BlobKey): BlobKey {
  if (isBlobKey(key)) return key;
  throw new Error(`\`${key}\` is not the key of a blob.`);
}

export const sha256OfKey = (key: BlobKey) => key.slice(0, 64);

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

export interface BlobStore {
  /**
   * Stores a blob completely or not at all, and replaces an existing one. It is durable when this resolves. Rejects
   * with `StoreUnavailable` if a later retry can succeed.
   */
  put(key: BlobKey, bytes: Uint8Array): Promise<void>;
  /** Resolves to null if the blob does not exist. */
  read(key: BlobKey): Promise<Uint8Array | null>;
  /** True if the blob has exactly these bytes. It makes no second copy of them in memory. */
  holds(key: BlobKey, bytes: Uint8Array): Promise<boolean>;
  /** True if the blob exists with this size. The bytes are not read. */
  has(key: BlobKey, sizeBytes: number): Promise<boolean>;
  /** Idempotent. */
  delete(key: BlobKey): Promise<void>;
  /**
   * Lists all blobs that exist during the whole listing. Blobs that are added or deleted during the listing may be
   * included.
   */
  list(): AsyncIterable<ListedBlob>;
}
