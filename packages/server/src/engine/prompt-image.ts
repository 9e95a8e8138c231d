import { type PromptImage, RunFailure } from '../agent/ports.ts';
import type { AttachedImage } from '../domain/attached-image.ts';
import { type ImageBlobs, ImageUnavailable } from '../files/image-blobs.ts';
import type { AttachmentRow } from '../store/queries/attachments.ts';

/** The image as a model is shown it. Its blob is read when the request to the provider is made, and not before. */
export function promptImage(image: AttachedImage, ownRunId: string, images: Pick<ImageBlobs, 'read'>): PromptImage {
  const { mediaType, sizeBytes, detail } = image;
  return {
    mediaType,
    sizeBytes,
    detail,
    async read() {
      try {
        return await images.read(image);
      } catch (error) {
        if (!(error instanceof ImageUnavailable)) throw error;
        const whose = image.runId === ownRunId ? 'this message' : `an earlier message (run ${image.runId})`;
        const name = `\`attachments[${image.position}]\` of ${whose}, ${mediaType} of ${sizeBytes} bytes,`;
        const sentence = `${name} ${error.message}; ${error.remedy}.`;
        throw new RunFailure('attachment_unavailable', sentence, { cause: error });
      }
    },
  };
}

export function attachedImage(row: AttachmentRow): AttachedImage {
  return {
    runId: row.run_id,
    position: row.position,
    blobKey: row.blob_key,
    mediaType: row.media_type,
    sizeBytes: row.size_bytes,
    detail: row.detail,
  };
}
