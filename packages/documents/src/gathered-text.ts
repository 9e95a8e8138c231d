/** Collects text up to a number of characters. A character is a Unicode code point and is never cut in half. */
export class GatheredText {
  readonly #parts: string[] = [];
  #room: number;
  #full = false;

  constructor(maxCharacters: number) {
    this.#room = maxCharacters;
  }

  /** True after some text did not fit. */
  get isFull(): boolean {
    return this.#full;
  }

  /** Adds the part that fits and returns it. */
  add(piece: string): string {
    if (this.#full) return '';
    const clean = cleanText(piece);
    const fitting = cutAfter(clean, this.#room);
    this.#room -= countCharacters(fitting);
    this.#full = fitting.length < clean.length;
    this.#parts.push(fitting);
    return fitting;
  }

  toString(): string {
    return this.#parts.join('');
  }
}

const UNWANTED = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

export const withoutControls = (text: string): string => text.replaceAll(UNWANTED, '');

/** Lines end with a line feed. Control characters except tab, and lone surrogates, are removed. */
export const cleanText = (text: string): string => withoutControls(text.toWellFormed().replaceAll(/\r\n?/g, '\n'));

const isHighSurrogate = (unit: number) => (unit & 0xfc00) === 0xd800;

/** Counts the code points of well-formed text. */
export function countCharacters(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length; i += 1) if (isHighSurrogate(text.charCodeAt(i))) pairs += 1;
  return text.length - pairs;
}

function cutAfter(text: string, characters: number): string {
  if (text.length <= characters) return text;
  let end = 0;
  for (let left = characters; left > 0 && end < text.length; left -= 1)
    end += isHighSurrogate(text.charCodeAt(end)) ? 2 : 1;
  return text.slice(0, end);
}
