import { hash } from 'node:crypto';
import type { ExtractedFiles } from './inline-files.ts';
import { decodeInlineImage, type InlineImage, isDataUrl, type NotDecoded } from './inline-image.ts';

/** The lists, and their items' field, that may contain inline images. */
export interface ImageFields {
  readonly list: string;
  /** A list whose items may have such a list. */
  readonly outer: string;
  readonly image: string;
  /** A field whose data URLs are removed without decoding, because none of them is valid there. */
  readonly never: string;
  readonly maxBytes: number;
}

/** The fields of a completion's body that may contain images. */
export const imageFields = (maxBytes: number): ImageFields => ({
  list: 'attachments',
  outer: 'history',
  image: 'image_url',
  never: 'file_url',
  maxBytes,
});

/**
 * Replaces each data URL by a short placeholder while the body is parsed, so that validation and the fingerprint do not
 * process megabytes of base64. Equal URLs get equal placeholders, and different URLs different ones. This also holds if
 * a body contains a placeholder's text, because that text is a data URL too.
 */
export function takeOutImages(body: unknown, imageFields: ImageFields): ExtractedFiles {
  const images = new Map<string, InlineImage | NotDecoded>();
  if (!isRecord(body)) return [];
  takeOutOfList(body, imageFields, images);
  const outer = body[imageFields.outer];
  if (Array.isArray(outer)) {
    for (const item of outer as readonly unknown[]) if (isRecord(item)) takeOutOfList(item, imageFields, images);
  }
  return [...images];
}

function takeOutOfList(
  parent: Record<string, unknown>,
  imageFields: ImageFields,
  images: Map<string, InlineImage | NotDecoded>,
): void {
  const items = parent[imageFields.list];
  if (!Array.isArray(items)) return;
  for (const item of items as readonly unknown[]) {
    if (!isRecord(item)) continue;
    for (const field of [imageFields.image, imageFields.never]) {
      const url = item[field];
      if (typeof url !== 'string' || !isDataUrl(url)) continue;
      const standIn = `data:,${hash('sha256', url)}`;
      item[field] = standIn;
      if (field === imageFields.image) images.set(standIn, decodeInlineImage(url, imageFields.maxBytes));
    }
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
