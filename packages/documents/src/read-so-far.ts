import { type WholePart, withNotes } from './conversion.ts';
import { asText, type FileContent } from './file-content.ts';
import { Unreadable } from './unreadable.ts';

/**
 * Returns the complete pages or sheets of a file whose time ran out, with a note. If there are none, the file is
 * unreadable.
 */
export function readSoFar(parts: readonly WholePart[], conversionMs: number): FileContent | Unreadable {
  const last = parts.at(-1);
  const time = `${conversionMs / 1000} s`;
  if (last === undefined) {
    return new Unreadable(`is too complex: it could not be read within ${time}; attach a simpler or shorter file`);
  }
  const { unit, number, of, mediaType } = last;
  const shown = number === 1 ? `${unit} 1 of ${of} is` : `${unit}s 1 to ${number} of ${of} are`;
  const note = `[Cut here: ${shown} shown; reading took longer than ${time}.]`;
  return asText(mediaType, withNotes(parts.map(({ text }) => text).join(''), [note]));
}
