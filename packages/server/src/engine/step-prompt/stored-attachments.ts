import type { OutputImages } from '../../agent/output-images.ts';
import type { AttachmentBlobs } from '../../attachments/attachment-blobs.ts';
import { type ReadyAttachment, shownText } from '../../attachments/prompt-attachment.ts';
import { toPromptImage } from '../../attachments/run-images.ts';
import type { StoredAttachment } from '../../domain/attachment/attachment.ts';

const notSent = (): Promise<never> => Promise.reject(new Error('The bytes of a shown prompt are never sent.'));

/** Images of tools in a prompt that is only shown. */
export const STORED_IMAGES: OutputImages = {
  store: notSent,
  adopt: notSent,
  show: (images) => images.map((image) => toPromptImage(image, notSent)),
};

/** Attachments in a prompt that is only shown. Nothing is fetched, and lost bytes are left out. */
export class StoredAttachments {
  readonly #blobs: Pick<AttachmentBlobs, 'read'>;

  constructor(blobs: Pick<AttachmentBlobs, 'read'>) {
    this.#blobs = blobs;
  }

  ready(rows: readonly StoredAttachment[]): Promise<ReadyAttachment[]> {
    return Promise.all(rows.map((row) => this.#toReady(row)));
  }

  read(): Promise<never> {
    return notSent();
  }

  async #toReady(row: StoredAttachment): Promise<ReadyAttachment> {
    const { form, media_type: type, size_bytes: size } = row;
    const known = { ...row, form: form ?? 'text', media_type: type ?? '', size_bytes: size ?? 0 } as const;
    return { ...known, text: known.form === 'text' ? await this.#readText(row) : null };
  }

  async #readText(row: StoredAttachment): Promise<string> {
    const { blob_key: blobKey, size_bytes: sizeBytes, media_type: mediaType } = row;
    if (blobKey === null || sizeBytes === null || mediaType === null) return '';
    try {
      return shownText(row, mediaType, blobKey, await this.#blobs.read({ blobKey, sizeBytes }));
    } catch {
      return '';
    }
  }
}
