/** The bytes are not UTF-8, or contain NUL. */
export class NotText extends Error {
  override readonly name = 'NotText';
}

export interface TextPiece {
  readonly text: string;
  /** The number of bytes that were read for it. */
  readonly size: number;
}

/** Decodes the bytes piece by piece. Throws `NotText`. */
export async function* toText(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TextPiece, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (error) {
      throw new NotText('It is not UTF-8.', { cause: error });
    }
  };
  for await (const chunk of bytes) {
    const text = decode(chunk);
    if (text.includes('\0')) throw new NotText('It contains a NUL.');
    yield { text, size: chunk.length };
  }
  // Throws if the last character is incomplete.
  decode();
}

/** A line, or a part of it if it is longer than a piece. */
export interface LinePiece {
  /** The line number, from 1. */
  readonly line: number;
  /** The number of characters of the line before this piece. */
  readonly at: number;
  readonly text: string;
  readonly endsLine: boolean;
}

/** Splits text that arrives in pieces into lines. It holds at most one piece of a line in memory. */
export class LineSplitter {
  readonly #maxPiece: number;
  #line = 1;
  #at = 0;
  #rest = '';

  constructor(maxPiece: number) {
    this.#maxPiece = maxPiece;
  }

  *push(text: string): Generator<LinePiece, void> {
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      yield* this.#take(text.slice(from, end));
      yield this.#ended();
      from = end + 1;
    }
    yield* this.#take(text.slice(from));
  }

  /** Yields the last line if it has no line break. */
  *end(): Generator<LinePiece, void> {
    if (this.#rest !== '' || this.#at > 0) yield this.#ended();
  }

  *#take(text: string): Generator<LinePiece, void> {
    this.#rest += text;
    while (this.#rest.length > this.#maxPiece) {
      const piece = cutAt(this.#rest, this.#maxPiece);
      yield { line: this.#line, at: this.#at, text: piece, endsLine: false };
      this.#at += piece.length;
      this.#rest = this.#rest.slice(piece.length);
    }
  }

  #ended(): LinePiece {
    const text = this.#rest.endsWith('\r') ? this.#rest.slice(0, -1) : this.#rest;
    const piece = { line: this.#line, at: this.#at, text, endsLine: true };
    this.#line += 1;
    this.#at = 0;
    this.#rest = '';
    return piece;
  }
}

/** Returns at most `max` characters from the start and never half of a surrogate pair. */
export function cutAt(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}
