import { randomBytes } from 'node:crypto';

/**
 * Bytes under names that are used once. A name begins with the hash of the bytes, so that anybody can check them, and
 * ends with something random: nothing is ever put under a name that was deleted, so a delete never meets a later put of
 * the same bytes. Which names are in use, and for whom, the database says.
 */
export type BlobKey = string;

export function newBlobKey(sha256: string): BlobKey {
  return `${sha256}-${randomBytes(8).toString('hex')}`;
}

const KEY = /^[0-9a-f]{64}-[0-9a-f]{16}$/;

export const isBlobKey = (text: string): boolean => KEY.test(text);

/** A key becomes a path: nothing else may. */
export function checkBlobKey(key: BlobKey): BlobKey {
  if (isBlobKey(key)) return key;
  throw new Error(`\`${key}\` is not the key of a blob.`);
}

export const sha256OfKey = (key: BlobKey) => key.slice(0, 64);

/** First and last byte, both included; `last` may lie behind the end. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

export interface ListedBlob {
  readonly key: BlobKey;
  /** When it was put, in milliseconds since 1970. */
  readonly putAt: number;
}

export interface BlobStore {
  /**
   * Durable when it resolves; there whole or not at all. Put again, it is replaced. Rejects with `StoreUnavailable` where
   * it may be tried again later.
   */
  put(key: BlobKey, bytes: Uint8Array): Promise<void>;
  /** Null: it is not there. */
  read(key: BlobKey): Promise<Uint8Array | null>;
  /** Whether it is there with exactly these bytes, without a second copy of them in memory. */
  holds(key: BlobKey, bytes: Uint8Array): Promise<boolean>;
  /** Whether it is there with so many bytes; they are not read. */
  has(key: BlobKey, sizeBytes: number): Promise<boolean>;
  /** Of one that is not there, it is done already. */
  delete(key: BlobKey): Promise<void>;
  /** All that are there from the beginning to the end of the listing, and perhaps some that come or go meanwhile. */
  list(): AsyncIterable<ListedBlob>;
}
