import { cutAt, type LinePiece } from './text-lines.ts';

export interface ExcerptLimits {
  readonly firstLine: number;
  /** Of the first line, from 1 on. */
  readonly firstCharacter: number;
  readonly lines: number;
  readonly lineCharacters: number;
  readonly characters: number;
}

/** The lines of a text that were asked for, as far as the limits go. */
export class Excerpt {
  readonly lines: string[] = [];
  /** Of the lines in it, those that were too long to be shown whole, and how far they are. */
  readonly cut: { readonly line: number; readonly shownTo: number }[] = [];
  /** True: nothing more is taken, and there is more. */
  isFull = false;
  /** The last line of the text that was begun. */
  lastLine = 0;
  readonly #limits: ExcerptLimits;
  #characters = 0;
  #open = '';
  /** True: not all of the open line is taken, and nothing more of it. */
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
      const taken = cutAt(wanted, lineCharacters - this.#open.length);
      this.#open += taken;
      this.#isCut = taken.length < wanted.length;
    }
    if (endsLine) this.#close(line, skipped, at + text.length);
  }

  /** Takes what there is of a line whose end was not read. */
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
    // Whoever asks for half of a character gets a sign for it.
    this.lines.push(text.toWellFormed());
    this.#characters += text.length;
  }
}
