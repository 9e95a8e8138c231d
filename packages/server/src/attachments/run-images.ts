import { imageSize, imageType } from '@runwire/documents';
import { imageInBrackets } from '@runwire/lib/bracketed-images.ts';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import type { PromptImage } from '@runwire/models';
import { newId } from '../domain/ids.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import type { GivenImage, StoredImages, ToolImage } from '../domain/run/tool-image.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { useBlob } from '../store/queries/attachments.ts';
import { insertToolImage } from '../store/queries/tool-images.ts';
import type { Tx } from '../store/store.ts';
import { BlobUnavailable } from './attachment-blobs.ts';
import type { AttachmentDeps, AttachmentRun } from './attachment-tools.ts';
import { holdAndRefer, storeBlob } from './store-copy.ts';

type ImageDeps = Pick<AttachmentDeps, 'attachments' | 'store'>;

/** A JPEG has its size after its metadata, which rarely have more bytes. A hostile one is not searched for long. */
const HEADER_BYTES = 1024 * 1024;
/** Providers refuse larger ones, and the run would fail. */
const MAX_SIDE_PIXELS = 8000;

/**
 * The images of the outputs of a run's tools. Each is stored before the step that refers to it, also if the integration keeps no
 * copies of attachments: later prompts show it again, like the output's text.
 */
export class RunImages {
  readonly #deps: ImageDeps;
  readonly #run: AttachmentRun;

  constructor(deps: ImageDeps, run: AttachmentRun) {
    this.#deps = deps;
    this.#run = run;
  }

  /** Stores one at a time, so that images that are read here need the memory of one. */
  async store(given: readonly GivenImage[]): Promise<StoredImages> {
    const images: ToolImage[] = [];
    const names: string[] = [];
    for (const one of given) {
      const stored = await this.#storeOne(one);
      if ('problem' in stored) names.push(imageInBrackets(one, `: ${stored.problem}`));
      else images.push(stored);
    }
    return { images, names };
  }

  async #storeOne(given: GivenImage): Promise<ToolImage | { readonly problem: string }> {
    const { signal, ownerId, runId, chatKey } = this.#run;
    using _ = await this.#deps.attachments.budget.reserve(ownerId, given.sizeBytes, signal);
    const bytes = await readBytes(given, signal);
    if (bytes === null) return { problem: 'it could not be read' };
    const mediaType = imageType(bytes);
    if (mediaType === null) return { problem: 'it is no PNG, JPEG, GIF or WebP image' };
    const size = imageSize(bytes.subarray(0, HEADER_BYTES));
    if (size !== null && Math.max(size.width, size.height) > MAX_SIDE_PIXELS) {
      return { problem: `${size.width} × ${size.height} pixels are too many; at most ${MAX_SIDE_PIXELS} per side` };
    }
    const image = { attachmentId: newId('att'), mediaType, sizeBytes: bytes.length };
    const blobKey = await storeBlob(this.#deps, this.#run, bytes, signal, async (tx, blob) => {
      await holdAndRefer(tx, this.#run, blob, Date.now());
      await tx.run(insertToolImage, toRow({ runId, chatKey }, { ...image, blobKey: blob.blobKey }));
    });
    return { ...image, blobKey };
  }

  /** Keeps the images that another run of the integration has stored. */
  async adopt(given: readonly ToolImage[]): Promise<StoredImages> {
    const kept = await this.#run.retry(() =>
      this.#deps.store.transact('attachment', async (tx) => {
        await holdAndRefer(tx, this.#run, null, Date.now());
        return Promise.all(given.map((image) => this.#adoptOne(tx, image)));
      }),
    );
    return {
      images: given.filter((_, index) => kept[index]),
      names: given.filter((_, index) => !kept[index]).map((image) => imageInBrackets(image, ': it was deleted')),
    };
  }

  async #adoptOne(tx: Tx, image: ToolImage): Promise<boolean> {
    if ((await tx.run(useBlob, image)) === 0) return false;
    await tx.run(insertToolImage, toRow(this.#run, image));
    return true;
  }

  show(images: readonly ToolImage[]): readonly PromptImage[] {
    return images.map((image) => toPromptImage(image, () => this.#read(image)));
  }

  async #read({ blobKey, sizeBytes, mediaType }: ToolImage): Promise<Uint8Array> {
    try {
      return await unlessAborted(this.#run.signal, this.#deps.attachments.blobs.read({ blobKey, sizeBytes }));
    } catch (error) {
      if (!(error instanceof BlobUnavailable)) throw error;
      const what = `An image that a tool returned in this chat, ${mediaType} of ${sizeBytes} bytes,`;
      const remedy = error.mayRetry ? 'send the message again' : 'start a new chat';
      throw new RunFailure('attachment_unavailable', `${what} ${error.message}; ${remedy}.`, { cause: error });
    }
  }
}

/** `read` is called each time when the request to the provider is made, and not before. */
export const toPromptImage = ({ mediaType, sizeBytes }: ToolImage, read: PromptImage['read']): PromptImage => ({
  kind: 'image',
  name: null,
  mediaType,
  sizeBytes,
  detail: 'auto',
  read,
});

const toRow = (
  { runId, chatKey }: Pick<AttachmentRun, 'runId' | 'chatKey'>,
  { attachmentId, blobKey, mediaType, sizeBytes }: ToolImage,
) => ({
  run_id: runId,
  attachment_id: attachmentId,
  chat_key: chatKey,
  blob_key: blobKey,
  media_type: mediaType,
  size_bytes: sizeBytes,
});

/** Returns null if the bytes cannot be read, or if they are more than was announced. */
async function readBytes({ bytes, sizeBytes }: GivenImage, signal: AbortSignal): Promise<Uint8Array | null> {
  if (typeof bytes !== 'function') return bytes;
  try {
    const read = await unlessAborted(signal, bytes());
    return read.length === sizeBytes ? read : null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof StoreUnavailable) throw error;
    return null;
  }
}
