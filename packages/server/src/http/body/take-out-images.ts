import { hash } from 'node:crypto';
import { decodeInlineImage, type InlineImage, isDataUrl, type NotAnImage } from './inline-image.ts';

/** Where inline images stand in a body: in a field of the items of a list. */
export interface ImagePlaces {
  readonly list: string;
  readonly image: string;
  /** A field whose data URLs are taken out undecoded: there is no good one. */
  readonly never: string;
  readonly maxBytes: number;
}

/** What was taken out, by what stands in its place. */
export type TakenOut = readonly (readonly [standIn: string, image: InlineImage | NotAnImage])[];

/**
 * Puts something short in the place of each data URL, wherever the body is parsed. So whoever handles the body later,
 * checks it against its schema and takes its fingerprint, does not go through megabytes of base64 each time. Equal URLs
 * have equal stand-ins and no others have, also where a body holds the text of a stand-in: that is a data URL too.
 */
export function takeOutImages(body: unknown, places: ImagePlaces): TakenOut {
  const taken = new Map<string, InlineImage | NotAnImage>();
  const items = isRecord(body) ? body[places.list] : undefined;
  if (!Array.isArray(items)) return [];
  for (const item of items as readonly unknown[]) {
    if (!isRecord(item)) continue;
    for (const field of [places.image, places.never]) {
      const url = item[field];
      if (typeof url !== 'string' || !isDataUrl(url)) continue;
      const standIn = `data:,${hash('sha256', url)}`;
      item[field] = standIn;
      if (field === places.image) taken.set(standIn, decodeInlineImage(url, places.maxBytes));
    }
  }
  return [...taken];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
