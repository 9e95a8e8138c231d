import type { CommandOutput } from '../agent/workspace-port.ts';

/** More than the characters that a model gets, even if each takes four bytes. */
const PART_BYTES = 128 * 1024;

/** The part of an output that readers see while the command runs. */
const SHOWN_BYTES = 1000;
const SHOWN_LINES = 10;

/** The last lines of an output that has not ended. */
export class LastLines {
  #bytes = Buffer.alloc(0);
  #isCut = false;

  add(bytes: Uint8Array): void {
    const all = Buffer.concat([this.#bytes, bytes.subarray(-SHOWN_BYTES)]);
    this.#isCut ||= this.#bytes.length + bytes.length > SHOWN_BYTES;
    this.#bytes = all.subarray(-SHOWN_BYTES);
  }

  /** Without white space at its end. */
  get text(): string {
    const bytes = this.#isCut ? withoutCutCharacter(this.#bytes) : this.#bytes;
    // With `stream`, a character that has not arrived whole is left out.
    const text = new TextDecoder().decode(bytes, { stream: true }).trimEnd();
    const lines = text.split('\n');
    const isFirstCut = this.#isCut && lines.length > 1;
    return lines.slice(Math.max(isFirstCut ? 1 : 0, lines.length - SHOWN_LINES)).join('\n');
  }
}

/** Leaves out what remains of a character of UTF-8 whose first byte was cut off. */
function withoutCutCharacter(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

/** Keeps the start and the end of an output, however long it is. */
export class OutputParts {
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #leftOut = 0;

  add(bytes: Uint8Array): void {
    // The sender may use its buffer again.
    const copy = Uint8Array.from(bytes);
    const first = copy.subarray(0, PART_BYTES - this.#headBytes);
    if (first.length > 0) {
      this.#head.push(first);
      this.#headBytes += first.length;
    }
    const rest = copy.subarray(first.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    if (this.#tailBytes > 4 * PART_BYTES) this.#cutTail();
  }

  #cutTail(): void {
    const all = Buffer.concat(this.#tail);
    const kept = all.subarray(Math.max(0, all.length - PART_BYTES));
    this.#leftOut += all.length - kept.length;
    this.#tail = [Uint8Array.from(kept)];
    this.#tailBytes = kept.length;
  }

  get parts(): CommandOutput {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    if (this.#leftOut > 0) return { head: text(head), tail: text(tail), leftOutBytes: this.#leftOut };
    // Decoded together: a character may be in both.
    return { head: text(Buffer.concat([head, tail])), tail: '', leftOutBytes: 0 };
  }
}
