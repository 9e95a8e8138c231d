import { webcrypto } from 'node:crypto';
import type { AttachedImage, ImageDetail } from '../domain/attached-image.ts';
import { blobByHash, insertAttachment, insertBlob, useBlob } from '../store/queries/attachments.ts';
import { first, type Reads, type Tx } from '../store/store.ts';
import { type BlobKey, type BlobStore, newBlobKey, sha256OfKey } from './blob-store.ts';

/** An image of a request, decoded and found to be one. */
export interface GivenImage {
  readonly mediaType: string;
  readonly sha256: string;
  readonly bytes: Uint8Array;
  readonly detail: ImageDetail;
}

/** An image whose bytes are durable, and which nothing refers to yet. */
export interface KeptImage {
  readonly sha256: string;
  readonly blobKey: BlobKey;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly detail: ImageDetail;
  /** Put under a name that the database does not know yet. */
  readonly isNew: boolean;
  readonly keptAt: number;
}

/** The bytes of an image were swept, or may have been, before a message came to refer to them: they are to be kept again. */
export class ImageGone extends Error {
  override readonly name = 'ImageGone';
}

/** The bytes of an image cannot be had. The message is the end of a sentence about it, `remedy` says what to do. */
export class ImageUnavailable extends Error {
  override readonly name = 'ImageUnavailable';
  readonly remedy: string;

  constructor(message: string, remedy = 'attach the image again', options?: ErrorOptions) {
    super(message, options);
    this.remedy = remedy;
  }
}

/**
 * How long after they were kept a message may come to refer to them. A sweep deletes what is unknown to the database
 * after a day: a process that slept through that day between its put and its transaction starts over.
 */
const KEPT_FOR_MS = 3_600_000;

/**
 * The images of messages, as blobs. Before the admitting transaction their bytes are made durable; inside it the message
 * comes to refer to them; a sweep deletes what nothing refers to.
 */
export class ImageBlobs {
  readonly #reads: Reads;
  readonly #blobs: BlobStore;

  constructor(reads: Reads, blobs: BlobStore) {
    this.#reads = reads;
    this.#blobs = blobs;
  }

  /** Bytes that the integration has already are not written again. */
  async keep(integrationId: string, images: readonly GivenImage[]): Promise<KeptImage[]> {
    const kept = new Map<string, Promise<Pick<KeptImage, 'blobKey' | 'isNew'>>>();
    const keptAt = Date.now();
    return await Promise.all(
      images.map(async ({ bytes, sha256, mediaType, detail }) => {
        let one = kept.get(sha256);
        if (one === undefined) {
          one = this.#keepOne(integrationId, sha256, bytes);
          kept.set(sha256, one);
        }
        return { sha256, mediaType, detail, sizeBytes: bytes.length, keptAt, ...(await one) };
      }),
    );
  }

  async #keepOne(integrationId: string, sha256: string, bytes: Uint8Array) {
    const known = await first(this.#reads.all(blobByHash, { integrationId, sha256 }));
    if (known === undefined) {
      const blobKey = newBlobKey(sha256);
      await this.#blobs.put(blobKey, bytes);
      return { blobKey, isNew: true };
    }
    const blobKey = known.blob_key;
    // One that was lost or damaged is mended by whoever sends it again, for all messages that refer to it.
    if (!(await this.#blobs.holds(blobKey, bytes))) await this.#blobs.put(blobKey, bytes);
    return { blobKey, isNew: false };
  }

  /** The bytes, checked. Throws `ImageUnavailable`. */
  async read({ blobKey, sizeBytes }: Pick<AttachedImage, 'blobKey' | 'sizeBytes'>): Promise<Uint8Array> {
    let bytes: Uint8Array | null;
    try {
      bytes = await this.#blobs.read(blobKey);
    } catch (error) {
      // Too many open files, or a disk that stumbles: the bytes may be as good as ever.
      const remedy = 'send the message again, and if that does not help, attach the image again';
      throw new ImageUnavailable('cannot be read from the stored files now', remedy, { cause: error });
    }
    if (bytes === null) throw new ImageUnavailable('is missing from the stored files');
    // Off the main thread: 20 MiB take 14 ms.
    const digest = await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
    const isWhole = bytes.length === sizeBytes && Buffer.from(digest).toString('hex') === sha256OfKey(blobKey);
    if (!isWhole) throw new ImageUnavailable('is damaged in the stored files');
    return bytes;
  }
}

/**
 * Within the admitting transaction: the message refers to its images from its commit on. Throws `ImageGone`, or meets a
 * unique index where another request has just made the same bytes known: then they are to be kept again, and the
 * transaction repeated.
 */
export async function referToImages(
  tx: Tx,
  of: { readonly integrationId: string; readonly chatKey: string; readonly runId: string; readonly now: number },
  images: readonly KeptImage[],
): Promise<AttachedImage[]> {
  const { integrationId, chatKey, runId, now } = of;
  const attached: AttachedImage[] = [];
  for (const [position, image] of images.entries()) {
    const { blobKey, sha256, mediaType, sizeBytes, detail } = image;
    if (now - image.keptAt > KEPT_FOR_MS) throw new ImageGone();
    if ((await tx.run(useBlob, { blobKey })) === 0) {
      if (!image.isNew) throw new ImageGone();
      await tx.run(insertBlob, { integrationId, sha256, blobKey, sizeBytes, now });
    }
    await tx.run(insertAttachment, { chatKey, runId, position, blobKey, mediaType, sizeBytes, detail });
    attached.push({ runId, position, blobKey, mediaType, sizeBytes, detail });
  }
  return attached;
}
