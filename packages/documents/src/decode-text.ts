import { isUtf8 } from 'node:buffer';
import { unicodeMark } from './sniff.ts';

export interface DecodedText {
  readonly text: string;
  /** What the reader must know about the decoding. */
  readonly note: string | null;
}

/** Encodings whose bytes can be valid UTF-8 by chance. If one is declared, it is used. */
const PASSES_FOR_UTF8 = /^(?:utf-?16|iso-2022-)/;
const META_WITHIN_BYTES = 1024;

/**
 * The order is: a byte order mark; UTF-8 if the bytes are valid UTF-8, because many servers label UTF-8 as Latin-1 and
 * other text is rarely valid UTF-8; the declared encoding; windows-1252, which accepts any byte.
 */
export function decodeText(bytes: Uint8Array, declared: string | null): DecodedText {
  const mark = unicodeMark(bytes);
  if (mark !== null) return { text: new TextDecoder(mark).decode(bytes), note: null };
  const decoder = declared === null ? null : createDecoder(declared);
  if (decoder !== null && PASSES_FOR_UTF8.test(decoder.encoding)) return { text: decoder.decode(bytes), note: null };
  if (isUtf8(bytes)) return { text: new TextDecoder().decode(bytes), note: null };
  if (decoder !== null) return { text: decoder.decode(bytes), note: null };
  return {
    text: new TextDecoder('windows-1252').decode(bytes),
    note: '[Note: the file does not say how its characters are encoded; it was read as windows-1252.]',
  };
}

/** Returns the encoding that a page declares in its head. */
export function charsetOfHtml(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, META_WITHIN_BYTES)).toString('latin1');
  return /<meta[^>]{1,200}charset\s*=\s*["']?([\w.:+-]{1,40})/i.exec(start)?.[1]?.toLowerCase() ?? null;
}

/** True if the declared encoding is used although the bytes are valid UTF-8. */
export function declaresOtherThanUtf8(declared: string | null): boolean {
  const decoder = declared === null ? null : createDecoder(declared);
  return decoder !== null && PASSES_FOR_UTF8.test(decoder.encoding);
}

function createDecoder(label: string): TextDecoder | null {
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}
