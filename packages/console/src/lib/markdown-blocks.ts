/* Cuts Markdown into blocks that can be rendered one by one, so that a finished block is never rendered again. */

/** What is longer is not shown. */
export const MAX_SHOWN_CHARACTERS = 200_000;
/** The lexer takes up to 50 ms for this many hostile characters, and its time grows with their square. */
const MAX_BLOCK_CHARACTERS = 4_000;
/** Code is shown without the lexer. */
const MAX_CODE_CHARACTERS = 16_000;
/** More emphasis and links than this in one block are not lexed. */
const MAX_DELIMITERS = 400;

const FENCE = /^ {0,3}(`{3,}|~{3,})[^`\n]*$/;
const LIST_ITEM = /^(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const TABLE_HEAD = /^[^\n]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t|:-]*)?\n/;

/** Text that grows at its end: blocks that cannot change any more, and the last block, which can. */
export class BlockSplitter {
  /** Each can be rendered alone. */
  readonly finished: string[] = [];
  /** The block that still grows. */
  tail = '';
  /** How many characters arrived in total. */
  length = 0;
  /** The start of the last line of `tail`: the lines before it were looked at. */
  #lineStart = 0;
  /** The fence that is open, for example three backticks. */
  #fence: string | null = null;
  #isBlank = false;

  append(text: string): void {
    const room = MAX_SHOWN_CHARACTERS - this.length;
    this.length += text.length;
    if (room <= 0) return;
    this.tail += text.slice(0, room);
    for (;;) {
      const end = this.tail.indexOf('\n', this.#lineStart);
      if (end === -1) break;
      this.#takeLine(this.tail.slice(this.#lineStart, end), end + 1);
    }
    while (this.tail.length > this.#maxCharacters) this.#cutLong();
  }

  /** All blocks. The last one may still grow. */
  blocks(): readonly string[] {
    return this.tail.trim() === '' ? this.finished : [...this.finished, this.tail];
  }

  get #maxCharacters(): number {
    return this.#fence === null ? MAX_BLOCK_CHARACTERS : MAX_CODE_CHARACTERS;
  }

  #takeLine(line: string, end: number): void {
    if (this.#fence !== null) {
      this.#lineStart = end;
      const mark = line.trim();
      const closes = mark.startsWith(this.#fence) && mark === mark[0]?.repeat(mark.length);
      if (closes) {
        this.#fence = null;
        this.#finish(end);
      } else if (end > MAX_CODE_CHARACTERS) this.#cutCode(end);
      return;
    }
    const isBlank = line.trim() === '';
    const fence = FENCE.exec(line)?.[1];
    // After an empty line a new block begins, unless the line continues a list.
    const startsBlock = this.#isBlank && !isBlank && !/^\s/.test(line) && !(this.#isList() && LIST_ITEM.test(line));
    if (startsBlock || fence !== undefined) end -= this.#finish(this.#lineStart);
    else if (!isBlank && end > MAX_BLOCK_CHARACTERS && this.#lineStart > 0 && !/^\s/.test(line)) {
      end -= this.#finish(this.#lineStart);
    }
    this.#isBlank = isBlank;
    this.#lineStart = end;
    if (fence !== undefined) this.#fence = fence;
  }

  #isList(): boolean {
    return LIST_ITEM.test(this.tail);
  }

  /** Ends the block at the index. Returns by how much later indexes of `tail` are smaller now. */
  #finish(end: number): number {
    const block = this.tail.slice(0, end);
    const head = end > MAX_BLOCK_CHARACTERS / 2 ? (TABLE_HEAD.exec(block)?.[0] ?? '') : '';
    const rest = this.tail.slice(end);
    // A long table continues with its head. What follows an empty line is no longer the table.
    const continued = head !== '' && !this.#isBlank && rest.includes('|') ? head : '';
    if (block.trim() !== '') this.finished.push(block);
    this.tail = continued + rest;
    this.#isBlank = false;
    const shift = end - continued.length;
    this.#lineStart = Math.max(this.#lineStart - shift, 0);
    return shift;
  }

  /** Ends a long piece of code, and opens its fence again for the rest. */
  #cutCode(end: number): void {
    const opening = this.tail.slice(0, this.tail.indexOf('\n') + 1);
    this.finished.push(`${this.tail.slice(0, end)}${this.#fence}`);
    this.tail = opening + this.tail.slice(end);
    this.#lineStart = opening.length;
  }

  /** Cuts text without an end of a block, or even of a line. */
  #cutLong(): void {
    const max = this.#maxCharacters;
    const start = this.#fence === null ? 0 : this.tail.indexOf('\n') + 1;
    const lastLine = this.tail.lastIndexOf('\n', max - 1);
    const lastSpace = this.tail.lastIndexOf(' ', max - 1);
    const end = [lastLine, lastSpace].find((index) => index > start + max / 2) ?? max - 1;
    // A pair of surrogates is one character.
    const isHigh = (this.tail.charCodeAt(end) & 0xfc00) === 0xd800;
    if (this.#fence !== null) this.#cutCode(isHigh ? end : end + 1);
    else this.#finish(isHigh ? end : end + 1);
  }
}

export function splitBlocks(text: string): BlockSplitter {
  const splitter = new BlockSplitter();
  splitter.append(text);
  return splitter;
}

interface CodeFence {
  readonly language: string;
  readonly code: string;
}

/** Returns null if the block is no fenced code. The end of the fence may be missing. */
export function getCodeFence(block: string): CodeFence | null {
  const lineEnd = block.indexOf('\n');
  const opening = lineEnd === -1 ? block : block.slice(0, lineEnd);
  const fence = FENCE.exec(opening)?.[1];
  if (fence === undefined) return null;
  const language = opening.trim().slice(fence.length).trim().split(/\s/)[0] ?? '';
  const code = lineEnd === -1 ? '' : block.slice(lineEnd + 1).trimEnd();
  const lastLine = code.slice(code.lastIndexOf('\n') + 1);
  const isClosed = lastLine.trim().startsWith(fence);
  // A part of the closing fence arrives before the whole.
  return { language, code: isClosed ? code.slice(0, Math.max(code.length - lastLine.length - 1, 0)) : code };
}

/** True if the lexer could take too long, or the text cannot have any structure. */
export function isPlain(block: string): boolean {
  if (block.length > MAX_BLOCK_CHARACTERS * 2) return true;
  let delimiters = 0;
  for (const character of block) if ('_*~[`<>'.includes(character)) delimiters += 1;
  return delimiters > MAX_DELIMITERS;
}

/** Returns the address of a link that may be followed; null if the link must be shown as text. */
export function followableAddress(address: string): string | null {
  if (!/^(?:https?:\/\/|mailto:)/i.test(address)) return null;
  try {
    const { protocol, href } = new URL(address);
    return /^(?:https?|mailto):$/.test(protocol) ? href : null;
  } catch {
    return null;
  }
}
