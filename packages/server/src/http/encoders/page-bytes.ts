/** The memory of a page that is written and sent in one turn. A larger page gets memory of its own size. */
const USUAL_BYTES = 16 * 1024;
/** Room for the line before a chunk, `<length in hex>\r\n`, and for the bytes after it, `\r\n0\r\n\r\n`. */
const ROOM_BEFORE = 10;
const ROOM_AFTER = 7;
/** A text up to this length is written by a loop, which costs less than a call into the runtime. */
const SHORT = 24;
/** UTF-8 needs at most so many bytes for a unit of UTF-16. A long text's bytes are counted. */
const BYTES_PER_UNIT = 3;
const LONG = 4096;

const HEX = '0123456789abcdef';
const CHUNK_END = Buffer.from('\r\n');
const CHUNK_AND_BODY_END = Buffer.from('\r\n0\r\n\r\n');
const CR = 0x0d;
const LF = 0x0a;
const DIGIT_0 = 0x30;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * One page's bytes, in UTF-8. The encoder writes them once, and all readers at the same cursor send the same memory.
 * Frames as texts were copied three times on their way to the socket: when the page's text was made, when its
 * length was counted and when it became a chunk. That was 40 kB for an answer of 20 tokens.
 *
 * The memory is used again for the next page, unless `keep` was called: then a socket still sends from it.
 */
export class PageBytes {
  #memory = Buffer.allocUnsafeSlow(USUAL_BYTES);
  #end = ROOM_BEFORE;
  #isKept = false;

  get length(): number {
    return this.#end - ROOM_BEFORE;
  }

  /** Begins a page. */
  clear(): void {
    if (this.#isKept || this.#memory.length > USUAL_BYTES) this.#memory = Buffer.allocUnsafeSlow(USUAL_BYTES);
    this.#isKept = false;
    this.#end = ROOM_BEFORE;
  }

  /** Called if a socket has not sent all bytes yet. */
  keep(): void {
    this.#isKept = true;
  }

  text(text: string): this {
    this.#reserve(text.length > LONG ? Buffer.byteLength(text) : text.length * BYTES_PER_UNIT);
    this.#end += this.#memory.write(text, this.#end);
    return this;
  }

  /** The text as JSON, with its quotes. */
  json(text: string): this {
    return text.length <= SHORT && this.#plain(text) ? this : this.text(JSON.stringify(text));
  }

  /** A whole number that is not negative. */
  number(value: number): this {
    this.#reserve(20);
    const memory = this.#memory;
    let digits = 1;
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits += 1;
    let rest = value;
    for (let at = this.#end + digits - 1; at >= this.#end; at -= 1) {
      const tens = Math.floor(rest / 10);
      memory[at] = DIGIT_0 + (rest - tens * 10);
      rest = tens;
    }
    this.#end += digits;
    return this;
  }

  /** Returns false and writes nothing if a character of the text is not ASCII or must be escaped. */
  #plain(text: string): boolean {
    this.#reserve(text.length + 2);
    const memory = this.#memory;
    const start = this.#end + 1;
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i);
      if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) return false;
      memory[start + i] = code;
    }
    memory[this.#end] = QUOTE;
    memory[start + text.length] = QUOTE;
    this.#end = start + text.length + 1;
    return true;
  }

  #reserve(bytes: number): void {
    const needed = this.#end + bytes + ROOM_AFTER;
    if (needed <= this.#memory.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#memory.length * 2));
    larger.set(this.#memory.subarray(0, this.#end));
    this.#memory = larger;
  }

  /** The page's bytes in their own memory. */
  copy(): Buffer {
    return Buffer.from(this.#memory.subarray(ROOM_BEFORE, this.#end));
  }

  /** The page as a chunk of HTTP/1.1, and after the last one the end of the body. The memory is the page's own. */
  chunk(isLast: boolean): Buffer {
    const memory = this.#memory;
    let start = ROOM_BEFORE - 2;
    memory[start] = CR;
    memory[start + 1] = LF;
    for (let rest = this.length; rest > 0; rest >>>= 4) {
      start -= 1;
      memory[start] = HEX.charCodeAt(rest & 15);
    }
    const after = isLast ? CHUNK_AND_BODY_END : CHUNK_END;
    memory.set(after, this.#end);
    return memory.subarray(start, this.#end + after.length);
  }
}
