import { webcrypto } from 'node:crypto';
import { type BlobKey, type BlobStore, sha256OfKey } from '../storage/blob-store.ts';

/** The number of concurrent copies: enough to keep a disk busy with syncs, with at most this many images in memory. */
const AT_ONCE = 8;

export interface NamedBlob {
  readonly key: BlobKey;
  /** False if the blob may be swept at any moment, so that it may be missing. */
  readonly inUse: boolean;
}

export interface CopiedBlobs {
  /** Yields the keys of the blobs in the copy, while they are copied. */
  readonly keys: AsyncIterable<readonly BlobKey[]>;
  /** Counted while `keys` is read. */
  readonly count: () => number;
  readonly bytes: () => number;
  /** Blobs in use that are missing or whose bytes do not match their names. */
  readonly missing: () => readonly BlobKey[];
}

/** Copies blobs from one store to another. Blobs that already exist are not written again. */
export function copyBlobs(
  blobs: AsyncIterable<readonly NamedBlob[]>,
  from: Pick<BlobStore, 'read'>,
  to: BlobStore,
): CopiedBlobs {
  const missing: BlobKey[] = [];
  let count = 0;
  let bytes = 0;
  const copyOne = async ({ key, inUse }: NamedBlob): Promise<boolean> => {
    const found = await from.read(key);
    if (found === null || !(await isOfName(key, found))) {
      if (inUse) missing.push(key);
      return false;
    }
    if (!(await to.holds(key, found))) await to.put(key, found);
    count += 1;
    bytes += found.length;
    return true;
  };
  async function* copied() {
    for await (const batch of blobs) {
      for (let start = 0; start < batch.length; start += AT_ONCE) {
        const some = batch.slice(start, start + AT_ONCE);
        const done = await Promise.all(some.map(copyOne));
        yield some.filter((_, index) => done[index] === true).map(({ key }) => key);
      }
    }
  }
  return { keys: copied(), count: () => count, bytes: () => bytes, missing: () => missing };
}

async function isOfName(key: BlobKey, bytes: Uint8Array): Promise<boolean> {
  const digest = await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Buffer.from(digest).toString('hex') === sha256OfKey(key);
}
