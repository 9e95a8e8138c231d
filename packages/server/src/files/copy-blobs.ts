import { createHash, type Hash } from 'node:crypto';
import { type BlobKey, type BlobStore, sha256OfKey, tellsHash } from '../storage/blob-store.ts';

/** The number of concurrent copies: enough to keep a disk busy with syncs. */
const AT_ONCE = 8;

export interface NamedBlob {
  readonly key: BlobKey;
  /** False if the blob may be swept at any moment, so that it may be missing. */
  readonly inUse: boolean;
  /** What the bytes must hash to, in hexadecimal digits. Null if only the name tells it. */
  readonly digest: { readonly algorithm: 'md5' | 'sha256'; readonly hex: string } | null;
}

/** A blob in the copy. */
export interface CopiedBlob {
  readonly key: BlobKey;
  readonly sha256: string;
}

export interface CopiedBlobs {
  /** Yields the blobs in the copy, while they are copied. */
  readonly copied: AsyncIterable<readonly CopiedBlob[]>;
  /** Counted while `copied` is read. */
  readonly count: () => number;
  readonly bytes: () => number;
  /** Blobs in use that are missing or whose bytes are not the right ones. */
  readonly missing: () => readonly BlobKey[];
}

class WrongBytes extends Error {
  override readonly name = 'WrongBytes';
}

/** Copies blobs from one store to another. */
export function copyBlobs(
  blobs: AsyncIterable<readonly NamedBlob[]>,
  from: Pick<BlobStore, 'open'>,
  to: Pick<BlobStore, 'write'>,
): CopiedBlobs {
  const missing: BlobKey[] = [];
  let count = 0;
  let bytes = 0;
  const copyOne = async (blob: NamedBlob): Promise<CopiedBlob | null> => {
    const { key, inUse } = blob;
    const sha256 = createHash('sha256');
    try {
      await using opened = await from.open(key);
      if (opened === null) throw new WrongBytes(key);
      const { size } = await to.write(key, checked(opened.bytes, blob, sha256));
      count += 1;
      bytes += size;
      return { key, sha256: sha256.copy().digest('hex') };
    } catch (error) {
      if (!(error instanceof WrongBytes)) throw error;
      if (inUse) missing.push(key);
      return null;
    }
  };
  async function* copied() {
    for await (const batch of blobs) {
      for (let start = 0; start < batch.length; start += AT_ONCE) {
        const done = await Promise.all(batch.slice(start, start + AT_ONCE).map(copyOne));
        yield done.filter((blob) => blob !== null);
      }
    }
  }
  return { copied: copied(), count: () => count, bytes: () => bytes, missing: () => missing };
}

/** Passes the bytes on, and throws at their end if they are not the right ones: then the copy is not stored. */
async function* checked(bytes: AsyncIterable<Uint8Array>, { key, digest }: NamedBlob, sha256: Hash) {
  const md5 = digest?.algorithm === 'md5' ? createHash('md5') : null;
  for await (const piece of bytes) {
    sha256.update(piece);
    md5?.update(piece);
    yield piece;
  }
  const found = sha256.copy().digest('hex');
  const isRight =
    (!tellsHash(key) || found === sha256OfKey(key)) &&
    (digest === null || digest.hex === (md5 === null ? found : md5.digest('hex')));
  if (!isRight) throw new WrongBytes(key);
}
