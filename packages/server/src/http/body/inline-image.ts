import { hash } from 'node:crypto';
import { imageType } from '@runwire/documents';

export interface InlineImage {
  readonly isImage: true;
  /** The type detected from the bytes, regardless of the URL. */
  readonly mediaType: string;
  readonly sha256: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What is wrong with the text, as the end of a sentence about the field. */
export interface NotDecoded {
  readonly problem: string;
}

export const isDataUrl = (text: string) => /^data:/i.test(text);

const HEADER = /^data:image\/[a-z0-9.+-]+(?:;[a-z0-9_.+-]+=[^;,"]*)*;base64,/i;
/** Longer than the type and the parameters of every supported image type. */
const MAX_HEADER_CHARACTERS = 256;

/** Decodes the image of a data URL: strict base64, with the type detected from the bytes. */
export function decodeInlineImage(url: string, maxBytes: number): InlineImage | NotDecoded {
  const header = HEADER.exec(url.slice(0, MAX_HEADER_CHARACTERS))?.[0];
  if (header === undefined) {
    return { problem: 'must begin like `data:image/png;base64,`: an image type, then base64' };
  }
  const decoded = decodeBase64(url, header.length, maxBytes);
  if ('problem' in decoded) return decoded;
  const { bytes } = decoded;
  const mediaType = imageType(bytes);
  return mediaType === null ? NOT_AN_IMAGE : { isImage: true, mediaType, sha256: hash('sha256', bytes), bytes };
}

/** Decodes strict base64 that begins at an index of the text. */
export function decodeBase64(
  text: string,
  from: number,
  maxBytes: number,
): { readonly bytes: Uint8Array<ArrayBuffer> } | NotDecoded {
  const characters = text.length - from;
  // Bytes that are too many by their length are not decoded. Up to two of the last bytes are padding.
  if ((characters / 4) * 3 - 2 > maxBytes) return tooLarge(maxBytes);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    // `Buffer.from` ignores characters that are not base64.
    bytes = Uint8Array.fromBase64(text.slice(from), { lastChunkHandling: 'strict' });
  } catch {
    return NOT_BASE64;
  }
  // It skips white space.
  if (Math.ceil(bytes.length / 3) * 4 !== characters) return NOT_BASE64;
  return bytes.length > maxBytes ? tooLarge(maxBytes) : { bytes };
}

export const NOT_AN_IMAGE: NotDecoded = {
  problem: 'is not a PNG, JPEG, GIF or WebP image, judged by its content',
};

const NOT_BASE64: NotDecoded = {
  problem: 'is not valid base64: the characters A–Z, a–z, 0–9, + and /, padded with = to a multiple of four',
};

const tooLarge = (maxBytes: number): NotDecoded => ({ problem: `must decode to at most ${maxBytes} bytes` });
