import { imageInBrackets } from '@runwire/lib/bracketed-images.ts';

/** An image of a tool's output, as the journal and events name it. Its bytes are a blob. */
export interface ToolImage {
  /** Unique within the run. Callers read the bytes by it. */
  readonly attachmentId: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  /** Callers never see it. */
  readonly blobKey: string;
}

/** An image as a tool returns it. */
export interface GivenImage {
  /** As the tool wrote it. The image gets the type that its bytes have. */
  readonly mediaType: string;
  readonly sizeBytes: number;
  /** A function is called when the image is stored, so that few images are in memory at a time. */
  readonly bytes: Uint8Array | (() => Promise<Uint8Array>);
}

/** Images that are stored, and the names in brackets of images that cannot be shown. */
export interface StoredImages {
  readonly images: readonly ToolImage[];
  readonly names: readonly string[];
}

/** A text for the model, with images. */
export interface ImageResult {
  readonly text: string;
  readonly images: readonly GivenImage[];
}

export const MAX_IMAGES = 8;
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

const TOO_MANY = `: a result shows at most ${MAX_IMAGES} images of ${MAX_IMAGE_BYTES / 1024 / 1024} MiB together`;

/** The images that a result shows. The text names the others. */
export function withinLimits({ text, images }: ImageResult): ImageResult {
  const shown: GivenImage[] = [];
  const lines = text === '' ? [] : [text];
  let bytes = 0;
  for (const image of images) {
    if (shown.length < MAX_IMAGES && bytes + image.sizeBytes <= MAX_IMAGE_BYTES) {
      shown.push(image);
      bytes += image.sizeBytes;
    } else lines.push(imageInBrackets(image, TOO_MANY));
  }
  return { text: lines.join('\n'), images: shown };
}

/** An image as callers see it. */
export const toolImageJson = ({ attachmentId, mediaType, sizeBytes }: ToolImage) => ({
  attachmentId,
  mediaType,
  size: sizeBytes,
});
