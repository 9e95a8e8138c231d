import { createHash } from 'node:crypto';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import type { WaitAt } from '../../domain/wait-points.ts';
import {
  type BlobKey,
  type BlobStore,
  type ByteRange,
  checkBlobKey,
  isBlobKey,
  type ListedBlob,
  type OpenedBlob,
  type WrittenBytes,
} from '../blob-store.ts';
import { openObject } from './open-object.ts';
import type { PutBody, S3Bucket, S3Object } from './s3-bucket.ts';
import type { SpoolFolder } from './spool-folder.ts';

/** No upload takes this long: an older spool belongs to a process that died. */
const SPOOL_MS = 86_400_000;
const CONTENT_TYPE = 'application/octet-stream';

const MD5 = /^[0-9a-f]{32}$/;
/** Ceph answers a copy with an etag without quotes. */
const unquoted = (etag: string) => etag.replaceAll('"', '');

export interface AdoptedBlob {
  readonly blobKey: BlobKey;
  /** In hexadecimal digits. */
  readonly md5: string;
}

export interface S3BlobOptions {
  readonly bucket: S3Bucket;
  /** The keys of the blobs begin with it. It ends with `/`. */
  readonly prefix: string;
  /** The place for streams whose length is not known before. */
  readonly spools: SpoolFolder;
  readonly waitAt?: WaitAt | undefined;
}

/** Stores blobs as objects. S3 answers a put after it is durable, and shows an object only when it is complete. */
export class S3BlobStore implements BlobStore {
  readonly #bucket: S3Bucket;
  readonly #prefix: string;
  readonly #spools: SpoolFolder;
  readonly #waitAt: WaitAt | undefined;

  constructor({ bucket, prefix, spools, waitAt }: S3BlobOptions) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#spools = spools;
    this.#waitAt = waitAt;
  }

  async put(key: BlobKey, bytes: Uint8Array): Promise<void> {
    await this.#put(key, { bytes: () => bytes, length: bytes.length });
  }

  async write(key: BlobKey, bytes: AsyncIterable<Uint8Array>): Promise<WrittenBytes> {
    this.#waitAt?.('upload-bytes.before');
    await using spooled = await this.#spools.keep(key, bytes);
    await this.#put(key, spooled);
    return { size: spooled.length, md5: Buffer.from(spooled.md5, 'base64').toString('hex') };
  }

  async #put(key: BlobKey, body: Omit<PutBody, 'contentType'>): Promise<void> {
    this.#waitAt?.('upload-bytes.after');
    this.#waitAt?.('upload-sync.before');
    await this.#bucket.put(this.#key(key), { ...body, contentType: CONTENT_TYPE });
    this.#waitAt?.('upload-sync.after');
  }

  /**
   * Copies another object of the bucket to a new blob. Resolves to null if the object was replaced or deleted since it was
   * listed. Reads the bytes only if their MD5 is not the etag.
   */
  async adopt({ key, etag }: S3Object, blobKey: BlobKey): Promise<AdoptedBlob | null> {
    const copy = await this.#bucket.copy(key, this.#key(blobKey), etag);
    if (copy === null) return null;
    // An etag that depends on more than the bytes changes with the copy.
    const isMd5 = !copy.hidesMd5 && unquoted(copy.etag) === unquoted(etag) && MD5.test(unquoted(etag));
    return { blobKey, md5: isMd5 ? unquoted(etag) : await this.#getMd5(blobKey) };
  }

  async #getMd5(key: BlobKey): Promise<string> {
    const opened = await this.open(key);
    if (opened === null) throw new StoreUnavailable(`S3 does not show an object that it has copied: ${key}.`);
    await using _ = opened;
    const md5 = createHash('md5');
    for await (const piece of opened.bytes) md5.update(piece);
    return md5.digest('hex');
  }

  async open(key: BlobKey, range?: ByteRange): Promise<OpenedBlob | null> {
    const opened = await openObject(this.#bucket, this.#key(key), range ?? null);
    if (opened === null) return null;
    const dispose = () => opened[Symbol.asyncDispose]();
    return { size: opened.object.size, bytes: opened.bytes, [Symbol.asyncDispose]: dispose };
  }

  async read(key: BlobKey): Promise<Uint8Array | null> {
    return await this.#bucket.get(this.#key(key));
  }

  async holds(key: BlobKey, bytes: Uint8Array): Promise<boolean> {
    const opened = await openObject(this.#bucket, this.#key(key), null);
    if (opened === null) return false;
    await using _ = opened;
    if (opened.object.size !== bytes.length) return false;
    let at = 0;
    for await (const piece of opened.bytes) {
      if (Buffer.compare(bytes.subarray(at, at + piece.length), piece) !== 0) return false;
      at += piece.length;
    }
    return true;
  }

  async has(key: BlobKey, sizeBytes: number): Promise<boolean> {
    return (await this.#bucket.head(this.#key(key)))?.size === sizeBytes;
  }

  async delete(key: BlobKey): Promise<void> {
    await this.#bucket.delete(this.#key(key));
  }

  async deleteUnfinished(key: BlobKey): Promise<void> {
    await this.#spools.delete(checkBlobKey(key));
    await this.delete(key);
  }

  async *list(): AsyncIterable<ListedBlob> {
    await this.#spools.sweep(Date.now() - SPOOL_MS);
    for await (const page of this.#bucket.pages(this.#prefix)) {
      for (const { key: whole, modifiedAt } of page) {
        const key = whole.slice(this.#prefix.length);
        if (isBlobKey(key)) yield { key, putAt: modifiedAt };
      }
    }
  }

  #key(key: BlobKey): string {
    return `${this.#prefix}${checkBlobKey(key)}`;
  }
}
