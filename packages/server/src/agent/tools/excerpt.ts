import { cutAt, type LinePiece } from './text-lines.ts';

export interface ExcerptLimits {
  readonly firstLine: number;
  /** The first character of the first line, counted from 1. */
  readonly firstCharacter: number;
  readonly lines: number;
  readonly lineCharacters: number;
  readonly characters: number;
}

/** A text's requested lines, within the limits. */
export class Excerpt {
  readonly lines: string[] = [];
  /** The lines that were too long, and how many of their characters are shown. */
  readonly cut: { readonly line: number; readonly shownTo: number }[] = [];
  /** True if the excerpt takes nothing more although there is more text. */
  isFull = false;
  /** The number of the last line that was started. */
  lastLine = 0;
  readonly #limits: ExcerptLimits;
  #characters = 0;
  #open = '';
  /** True if the rest of the open line is left out. */
  #isCut = false;

  constructor(limits: ExcerptLimits) {
    this.#limits = limits;
  }

  take({ line, at, text, endsLine }: LinePiece): void {
    const { firstLine, firstCharacter, lines, lineCharacters } = this.#limits;
    if (line < firstLine) {
      this.lastLine = line;
      return;
    }
    if (line >= firstLine + lines || this.isFull) {
      this.isFull = true;
      return;
    }
    this.lastLine = line;
    const skipped = line === firstLine ? firstCharacter - 1 : 0;
    const wanted = text.slice(Math.max(0, skipped - at));
    if (!this.#isCut) {
      const fitting = cutAt(wanted, lineCharacters - this.#open.length);
      this.#open += fitting;
      this.#isCut = fitting.length < wanted.length;
    }
    if (endsLine) this.#close(line, skipped, at + text.length);
  }

  /** Adds the part of a line whose end was not read. */
  stop(): void {
    this.isFull = true;
    if (this.#open !== '') this.#add(this.#open);
  }

  #close(line: number, skipped: number, length: number): void {
    const shown = this.#open;
    this.#open = '';
    this.#isCut = false;
    if (this.lines.length > 0 && this.#characters + shown.length > this.#limits.characters) {
      this.isFull = true;
      this.lastLine = line - 1;
      return;
    }
    const shownTo = skipped + shown.length;
    const hidden = length - shownTo;
    if (hidden > 0) this.cut.push({ line, shownTo });
    this.#add(hidden > 0 ? `${shown}… [${hidden} more characters in this line]` : shown);
  }

  #add(text: string): void {
    // Half of a surrogate pair is replaced.
    this.lines.push(text.toWellFormed());
    this.#characters += text.length + 1;
  }
}
