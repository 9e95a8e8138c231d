import { StringDecoder } from 'node:string_decoder';

const CR = 13;
const LF = 10;
const COLON = 58;
const SPACE = 32;

/** An event has no end within the size limit. */
export class SseTooLarge extends Error {
  override readonly name = 'SseTooLarge';
}

/**
 * Decodes `text/event-stream` from pieces of any size. Lines end with LF, CR or CRLF. Comments and unknown fields are
 * ignored, and an event is passed on at its empty line. Text after the last empty line is no event.
 */
export class SseDecoder {
  readonly #onEvent: (event: string, data: string) => void;
  readonly #maxChars: number;
  readonly #utf8 = new StringDecoder('utf8');
  /** An unfinished line's start. It is only appended to, so that a line of 10 MB is copied once. */
  #rest = '';
  #afterCr = false;
  #endsWithLf = true;
  #started = false;
  #event = '';
  #data: string | null = null;

  constructor(onEvent: (event: string, data: string) => void, maxChars: number) {
    this.#onEvent = onEvent;
    this.#maxChars = maxChars;
  }

  /** True if nothing of the next event has arrived. */
  get isBetweenEvents(): boolean {
    return this.#endsWithLf && this.#rest === '' && this.#data === null && this.#event === '';
  }

  push(chunk: Uint8Array): void {
    // A chunk may end within a character.
    this.#endsWithLf = chunk[chunk.length - 1] === LF;
    const text = this.#utf8.write(chunk as Buffer);
    if (text === '') return;
    let start = 0;
    if (!this.#started) {
      this.#started = true;
      if (text.charCodeAt(0) === 0xfeff) start = 1;
    }
    // A CR at the end of one piece and an LF at the start of the next are one line end.
    if (this.#afterCr && text.charCodeAt(start) === LF) start += 1;
    this.#afterCr = start < text.length && text.charCodeAt(text.length - 1) === CR;
    // Each search is repeated only after its result was passed. A piece without a CR is searched for one once, not once
    // per line.
    let lf = text.indexOf('\n', start);
    let cr = text.indexOf('\r', start);
    while (lf !== -1 || cr !== -1) {
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr;
      if (this.#rest === '') this.#line(text, start, end);
      else {
        const line = this.#rest + text.slice(start, end);
        this.#rest = '';
        this.#line(line, 0, line.length);
      }
      start = end + (end === cr && lf === end + 1 ? 2 : 1);
      if (lf !== -1 && lf < start) lf = text.indexOf('\n', start);
      if (cr !== -1 && cr < start) cr = text.indexOf('\r', start);
    }
    if (start < text.length) this.#rest += start === 0 ? text : text.slice(start);
    if (this.#rest.length + (this.#data?.length ?? 0) > this.#maxChars) {
      throw new SseTooLarge(`An event of the stream is longer than ${this.#maxChars} characters.`);
    }
  }

  #line(text: string, start: number, end: number): void {
    if (start === end) {
      const data = this.#data;
      const event = this.#event;
      this.#data = null;
      this.#event = '';
      if (data !== null) this.#onEvent(event === '' ? 'message' : event, data);
    } else if (text.startsWith('data', start) && isNameEnd(text, start + 4, end)) {
      const value = text.slice(valueStart(text, start + 4, end), end);
      this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    } else if (text.startsWith('event', start) && isNameEnd(text, start + 5, end)) {
      this.#event = text.slice(valueStart(text, start + 5, end), end);
    }
  }
}

function isNameEnd(text: string, at: number, end: number): boolean {
  return at === end || (at < end && text.charCodeAt(at) === COLON);
}

/** Returns the position after the colon and one space. */
function valueStart(text: string, nameEnd: number, end: number): number {
  const after = nameEnd + 1;
  if (after >= end) return end;
  return text.charCodeAt(after) === SPACE ? after + 1 : after;
}
