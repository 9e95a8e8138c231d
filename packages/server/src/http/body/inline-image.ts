import { hash } from 'node:crypto';
import { imageType } from '@runwire/documents';

export interface InlineImage {
  /** Told by the bytes, whatever the URL said. */
  readonly mediaType: string;
  readonly sha256: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What is wrong with the URL, as the end of a sentence about it. */
export interface NotAnImage {
  readonly problem: string;
}

export const isDataUrl = (text: string) => /^data:/i.test(text);

const HEADER = /^data:image\/[a-z0-9.+-]+(?:;[a-z0-9_.+-]+=[^;,"]*)*;base64,/i;
/** Longer than the type and parameters of any image. */
const MAX_HEADER_CHARACTERS = 256;

/** An image out of its data URL: strict base64, judged by its bytes. */
export function decodeInlineImage(url: string, maxBytes: number): InlineImage | NotAnImage {
  const header = HEADER.exec(url.slice(0, MAX_HEADER_CHARACTERS))?.[0];
  if (header === undefined) {
    return { problem: 'must begin like `data:image/png;base64,`: an image type, then base64' };
  }
  const characters = url.length - header.length;
  // Not decoded where its length says that it is too large; up to two of the last bytes are padding.
  if ((characters / 4) * 3 - 2 > maxBytes) return tooLarge(maxBytes);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    // `Buffer.from` ignores what is no base64.
    bytes = Uint8Array.fromBase64(url.slice(header.length), { lastChunkHandling: 'strict' });
  } catch {
    return NOT_BASE64;
  }
  // It passes over white space.
  if (Math.ceil(bytes.length / 3) * 4 !== characters) return NOT_BASE64;
  if (bytes.length > maxBytes) return tooLarge(maxBytes);
  const mediaType = imageType(bytes);
  if (mediaType === null) return { problem: 'is not a PNG, JPEG, GIF or WebP image, judged by its content' };
  return { mediaType, sha256: hash('sha256', bytes), bytes };
}

const NOT_BASE64: NotAnImage = {
  problem: 'is not valid base64: the characters A–Z, a–z, 0–9, + and /, padded with = to a multiple of four',
};

const tooLarge = (maxBytes: number): NotAnImage => ({ problem: `must decode to at most ${maxBytes} bytes` });
