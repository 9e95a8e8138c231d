import type { DocumentLimits } from './document-limits.ts';
import { cleanText, countCharacters, GatheredText } from './gathered-text.ts';

/** A complete page or sheet, reported immediately, so that it can be used if the time runs out later. */
export interface WholePart {
  readonly text: string;
  /** The whole file's type. */
  readonly mediaType: string;
  readonly unit: 'page' | 'sheet';
  readonly number: number;
  readonly of: number;
}

/** The input and limits of a converter. */
export interface Conversion {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly limits: DocumentLimits;
  wholePart(part: WholePart): void;
}

/** Appends notes: what is missing, and what else the reader must know. */
export const withNotes = (text: string, notes: readonly (string | null)[]): string => {
  const shown = notes.filter((note) => note !== null);
  return shown.length === 0 ? text : `${withoutLastBreaks(text)}\n\n${shown.join('\n')}\n`;
};

/** A loop, because the regular expression `\n+$` takes quadratic time for many line feeds that are not at the end. */
function withoutLastBreaks(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

/** Returns a complete text, cut if it is too long. */
export function wholeText(text: string, limits: DocumentLimits, note: string | null = null): string {
  const gathered = new GatheredText(limits.characters);
  gathered.add(text);
  const all = gathered.isFull ? countCharacters(cleanText(text)) : 0;
  const cut = gathered.isFull ? `[Cut here: the first ${limits.characters} of ${all} characters are shown.]` : null;
  return withNotes(gathered.toString(), [cut, note]);
}

/** Returns the start of a text that was not read to its end, so its length is unknown. */
export function startOfText(text: string, limits: DocumentLimits, note: string | null = null): string {
  const gathered = new GatheredText(limits.characters);
  const shown = countCharacters(gathered.add(text));
  return withNotes(gathered.toString(), [`[Cut here: the first ${shown} characters are shown.]`, note]);
}
