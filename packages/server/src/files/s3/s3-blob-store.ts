import { type BlobKey, type BlobStore, checkBlobKey, isBlobKey, type ListedBlob } from '../blob-store.ts';
import type { S3Bucket } from './s3-bucket.ts';

/** How much of a blob is read to be compared. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** Objects in a bucket, below a prefix that ends with `/`. S3 answers a put when it is durable, and shows it whole. */
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
    return (await this.#bucket.get(this.#key(key)))?.bytes ?? null;
  }

  async holds(key: BlobKey, bytes: Uint8Array): Promise<boolean> {
    const found = await this.#bucket.head(this.#key(key));
    if (found === null || found.size !== bytes.length) return false;
    for (let first = 0; first < bytes.length; first += PIECE_BYTES) {
      const range = { first, last: Math.min(first + PIECE_BYTES, bytes.length) - 1 };
      const piece = await this.#bucket.get(found.key, range, found.etag);
      if (piece === null || Buffer.compare(bytes.subarray(first, range.last + 1), piece.bytes) !== 0) return false;
    }
    return true;
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
