import { parseJsonStart } from './json-start.ts';

/** The longest preview. Characters are code points. */
const PREVIEW_CHARACTERS = 200;
/** A quote and two escapes (`\ud83d\ude00`) per character: so much JSON always has a whole preview. */
export const PREVIEW_JSON_CHARACTERS = 1 + 12 * PREVIEW_CHARACTERS;

/** Parses the first characters of a text's JSON. */
const parseStart = (whole: string): string => parseJsonStart(whole.slice(0, PREVIEW_JSON_CHARACTERS));

/** Returns the first 200 characters without line breaks: white space is folded to one space. */
function fold(text: string): string {
  let preview = '';
  let characters = 0;
  for (const character of text.trim().replace(/\s+/g, ' ')) {
    if (characters === PREVIEW_CHARACTERS) break;
    preview += character;
    characters += 1;
  }
  return preview;
}

/** Returns a chat's title, or its first message's first line. Null if there is neither. */
export function previewTitle(title: string | null, firstTextJson: string | null): string | null {
  if (title !== null && title !== '') return title;
  if (firstTextJson === null) return null;
  const [line = ''] = parseStart(firstTextJson)
    .trimStart()
    .split(/[\n\r\u2028\u2029]/, 1);
  return fold(line) || null;
}

/** Returns how a text begins, from the beginning or all of its JSON. Null if there is none. */
export const previewText = (json: string | null): string | null => (json === null ? null : fold(parseStart(json)));
