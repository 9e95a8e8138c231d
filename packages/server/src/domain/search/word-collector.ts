import type { IntegrationId } from '../ids.ts';
import { parseJsonStart } from '../json-start.ts';
import { listWords, TEXT_CHARACTERS, WORD_CHARACTERS, wordScope } from './words.ts';

export interface CollectedWords {
  /** Each word once, as the index has it, with spaces between them. */
  readonly words: string;
  readonly count: number;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** Lower-case letters of ASCII differ from capitals in this bit. */
const LOWER = 0x20;

/** A word of one character, the space after it, and one character between this word and the next one. */
const MOST_BYTES_PER_CHARACTER = 4;
const MOST_BYTES_PER_CODE_POINT = 4;
const START_BYTES = 4096;
const START_SLOTS = 512;

/**
 * Collects a turn's words, each once. The words are written to one buffer and compared there: a string and an entry of a set for
 * each word are 5 kB for a turn of 40 words, this is one string. Reused for many turns.
 */
export class WordCollector {
  #bytes = Buffer.allocUnsafe(START_BYTES);
  /** Every collected word is followed by a space. */
  #length = 0;
  #count = 0;
  /** A hash table with open addressing: 1 + the first byte of a word, or 0. */
  #slots = new Int32Array(START_SLOTS);
  #integrationId: IntegrationId | null = null;
  #scope: readonly number[] = [];

  /** Begins another turn. */
  begin(integrationId: IntegrationId): void {
    if (integrationId !== this.#integrationId) this.#scope = [...Buffer.from(wordScope(integrationId))];
    this.#integrationId = integrationId;
    this.#length = 0;
    this.#count = 0;
    this.#slots.fill(0);
  }

  /** Adds the words of a text. */
  addText(text: string): void {
    if (!this.#addAscii(text, false)) this.#addWords(listWords(text));
  }

  /** Adds the words of a text's JSON, or of the beginning of that. */
  addJson(json: string): void {
    if (!this.#addAscii(json, true)) this.#addWords(listWords(parseJsonStart(json)));
  }

  end(): CollectedWords {
    return { words: this.#bytes.toString('utf8', 0, Math.max(0, this.#length - 1)), count: this.#count };
  }

  /** Returns false if the text has a character that this does not know. The words before it are added then. */
  #addAscii(text: string, isJson: boolean): boolean {
    this.#reserve(MOST_BYTES_PER_CHARACTER * Math.min(text.length, TEXT_CHARACTERS) + this.#scope.length + 2);
    let rest = TEXT_CHARACTERS;
    let characters = 0;
    let at = this.#length;
    for (let i = 0; i < text.length && rest > 0; i += 1) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      const isLetter = (code | LOWER) >= 0x61 && (code | LOWER) <= 0x7a;
      if (isLetter || (code >= 0x30 && code <= 0x39)) {
        if (characters === 0) at = this.#writeScope();
        if (characters < WORD_CHARACTERS) this.#bytes[at++] = isLetter ? code | LOWER : code;
        characters += 1;
      } else {
        if (characters > 0) this.#endWord(at);
        characters = 0;
        if (isJson && code === QUOTE) continue;
        if (isJson && code === BACKSLASH) {
          i += 1;
          if (text.charCodeAt(i) === LETTER_U) return false;
        }
      }
      rest -= 1;
    }
    if (characters > 0) this.#endWord(at);
    return true;
  }

  #addWords(words: readonly string[]): void {
    for (const word of words) {
      this.#reserve(this.#scope.length + MOST_BYTES_PER_CODE_POINT * WORD_CHARACTERS + 1);
      const at = this.#writeScope();
      this.#endWord(at + this.#bytes.write(word, at));
    }
  }

  /** Begins a word. Returns the index of its next byte. */
  #writeScope(): number {
    for (let i = 0; i < this.#scope.length; i += 1) this.#bytes[this.#length + i] = this.#scope[i] as number;
    return this.#length + this.#scope.length;
  }

  /** Adds the word that ends at `end`, if it is new. */
  #endWord(end: number): void {
    this.#bytes[end] = SPACE;
    const slot = this.#findSlot(this.#length, end);
    if (this.#slots[slot] !== 0) return;
    this.#slots[slot] = this.#length + 1;
    this.#length = end + 1;
    this.#count += 1;
    if (2 * this.#count > this.#slots.length) this.#growSlots();
  }

  /** Returns the slot of a word that ends with a space at `end`, or the free slot for it. */
  #findSlot(start: number, end: number): number {
    const bytes = this.#bytes;
    const last = this.#slots.length - 1;
    let hash = 0x811c9dc5;
    for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
    for (let slot = (hash ^ (hash >>> 15)) & last; ; slot = (slot + 1) & last) {
      const known = this.#slots[slot] as number;
      if (known === 0) return slot;
      let i = 0;
      while (start + i <= end && bytes[start + i] === bytes[known - 1 + i]) i += 1;
      if (start + i > end) return slot;
    }
  }

  #growSlots(): void {
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let start = 0; start < this.#length; ) {
      const end = this.#bytes.indexOf(SPACE, start);
      this.#slots[this.#findSlot(start, end)] = start + 1;
      start = end + 1;
    }
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * needed);
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
