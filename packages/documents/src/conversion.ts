import type { DocumentLimits } from './document-limits.ts';
import { cleanText, countCharacters, GatheredText } from './gathered-text.ts';

/** What a page or a sheet gave, told as soon as it is whole: it counts where the time runs out later. */
export interface WholePart {
  readonly text: string;
  /** Of the file that it is a part of. */
  readonly mediaType: string;
  readonly unit: 'page' | 'sheet';
  readonly number: number;
  readonly of: number;
}

/** What a converter works with. */
export interface Conversion {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly limits: DocumentLimits;
  wholePart(part: WholePart): void;
}

/** The last lines of a text: what is missing, and what else must be known. */
export const withNotes = (text: string, notes: readonly (string | null)[]): string => {
  const told = notes.filter((note) => note !== null);
  return told.length === 0 ? text : `${withoutLastBreaks(text)}\n\n${told.join('\n')}\n`;
};

/** No regular expression: `\n+$` begins anew at each of many line feeds that do not stand at the end. */
function withoutLastBreaks(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

/** A text that is there as a whole, cut where it is too long. */
export function wholeText(text: string, limits: DocumentLimits, note: string | null = null): string {
  const gathered = new GatheredText(limits.characters);
  gathered.add(text);
  const all = gathered.isFull ? countCharacters(cleanText(text)) : 0;
  const cut = gathered.isFull ? `[Cut here: the first ${limits.characters} of ${all} characters are shown.]` : null;
  return withNotes(gathered.toString(), [cut, note]);
}

/** The start of a text that was read no further: how much there is of it, nobody knows. */
export function startOfText(text: string, limits: DocumentLimits, note: string | null = null): string {
  const gathered = new GatheredText(limits.characters);
  const shown = countCharacters(gathered.add(text));
  return withNotes(gathered.toString(), [`[Cut here: the first ${shown} characters are shown.]`, note]);
}
