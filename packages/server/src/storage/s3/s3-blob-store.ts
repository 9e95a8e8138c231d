import { type BlobKey, type BlobStore, checkBlobKey, isBlobKey, type ListedBlob } from '../blob-store.ts';
import { openObject } from './open-object.ts';
import type { S3Bucket } from './s3-bucket.ts';

/**
 * Stores blobs as objects below a prefix that ends with `/`. S3 answers a put after it is durable, and shows an object
 * only when it is complete.
 */
export class S3BlobStore implements BlobStore {
  readonly #bucket: S3Bucket;
  readonly #prefix: string;

  constructor(bucket: S3Bucket, prefix: string) {
    this.#bucket = bucket;
    this.#prefix = prefix;
  }

  async put(key: BlobKey, bytes: Uint8Array): Promise<void> {
    const contentType = 'application/octet-stream';
    await this.#bucket.put(this.#key(key), { bytes: () => bytes, length: bytes.length, contentType });
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

  async *list(): AsyncIterable<ListedBlob> {
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
