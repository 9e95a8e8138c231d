import { isUtf8 } from 'node:buffer';
import { unicodeMark } from './sniff.ts';

export interface DecodedText {
  readonly text: string;
  /** What the reader must know of how it was decoded. */
  readonly note: string | null;
}

/** Encodings whose bytes may pass for UTF-8 by chance: where one is declared, it counts. */
const PASSES_FOR_UTF8 = /^(?:utf-?16|iso-2022-)/;
const META_WITHIN_BYTES = 1024;

/**
 * A byte order mark decides, then the bytes where they are UTF-8: servers that call UTF-8 Latin-1 are common, other text that
 * happens to be UTF-8 is not. Then what is declared, and at last windows-1252, which takes any byte.
 */
export function decodeText(bytes: Uint8Array, declared: string | null): DecodedText {
  const mark = unicodeMark(bytes);
  if (mark !== null) return { text: new TextDecoder(mark).decode(bytes), note: null };
  const decoder = declared === null ? null : decoderOf(declared);
  if (decoder !== null && PASSES_FOR_UTF8.test(decoder.encoding)) return { text: decoder.decode(bytes), note: null };
  if (isUtf8(bytes)) return { text: new TextDecoder().decode(bytes), note: null };
  if (decoder !== null) return { text: decoder.decode(bytes), note: null };
  return {
    text: new TextDecoder('windows-1252').decode(bytes),
    note: '[Note: the file does not say how its characters are encoded; it was read as windows-1252.]',
  };
}

/** What a page says of itself in its head. */
export function charsetOfHtml(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, META_WITHIN_BYTES)).toString('latin1');
  return /<meta[^>]{1,200}charset\s*=\s*["']?([\w.:+-]{1,40})/i.exec(start)?.[1]?.toLowerCase() ?? null;
}

function decoderOf(label: string): TextDecoder | null {
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}
