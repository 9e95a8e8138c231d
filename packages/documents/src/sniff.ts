import type { Claims } from './claimed-type.ts';

/** The kind of a file by its bytes. A `zip` can be a DOCX or XLSX, which its directory shows. */
export type ContentKind = 'pdf' | 'zip' | 'compound' | 'rtf' | 'html' | 'text' | 'unknown';

/** PDF readers search this far for the start: some servers and mail programs put lines or a binary header before it. */
const PDF_WITHIN_BYTES = 1024;
const PDF_START = /^(?:\xef\xbb\xbf)?%PDF-/;
const PDF_LATER = /[\0\r\n]%PDF-\d/;
/** The bytes at the start that decide whether a file is text. */
export const SAMPLE_BYTES = 64 * 1024;
/** Control characters in text: backspace, tab, line feed, form feed, carriage return and escape. */
const TEXT_CONTROLS = [8, 9, 10, 12, 13, 27];
/** 1 for each control character that text does not have. A table, because every byte of the sample is looked up. */
const IS_BINARY = Uint8Array.from({ length: 256 }, (_, byte) => Number(byte < 32 && !TEXT_CONTROLS.includes(byte)));
const MAX_CONTROLS_SHARE = 1 / 1000;

export function sniff(bytes: Uint8Array, claims: Pick<Claims, 'html' | 'text'>): ContentKind {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, SAMPLE_BYTES));
  const ascii = start.toString('latin1', 0, 4096);
  if (ascii.startsWith('PK\x03\x04') || ascii.startsWith('PK\x05\x06')) return 'zip';
  if (ascii.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return 'compound';
  if (ascii.startsWith('{\\rtf')) return 'rtf';
  if (PDF_START.test(ascii)) return 'pdf';
  const isText = unicodeMark(bytes) !== null || looksLikeText(start);
  // A text can quote a PDF's start.
  if (PDF_LATER.test(ascii.slice(0, PDF_WITHIN_BYTES)) && !(isText && claims.text)) return 'pdf';
  if (!isText) return 'unknown';
  return isHtml(ascii.replaceAll('\0', ''), claims.html) ? 'html' : 'text';
}

/** Returns the encoding of a byte order mark. */
export function unicodeMark(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return null;
}

function looksLikeText(sample: Uint8Array): boolean {
  let controls = 0;
  for (let index = 0; index < sample.length; index += 1) controls += IS_BINARY[sample[index] ?? 0] ?? 0;
  return controls <= sample.length * MAX_CONTROLS_SHARE;
}

const COMMENT = /<!--[\s\S]*?-->/g;
const HTML_START =
  /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body|title|script|style|meta|table|div|h1|p)[\s>]/i;
const ANY_TAG = /<(?:[a-z][a-z0-9]*[\s/>]|!doctype)/i;

function isHtml(start: string, saysHtml: boolean): boolean {
  const markup = start.replaceAll(COMMENT, '');
  return HTML_START.test(markup) || (saysHtml && ANY_TAG.test(markup));
}
