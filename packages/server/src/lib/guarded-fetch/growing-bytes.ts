const FIRST_BYTES = 64 * 1024;

/** Bytes that come in pieces, gathered in one buffer of their own: it can be handed to a worker as it is. */
export class GrowingBytes {
  #bytes: Uint8Array<ArrayBuffer>;
  #size = 0;

  /** `expected`: how many come, where that is known. */
  constructor(expected: number | null) {
    this.#bytes = new Uint8Array(expected ?? FIRST_BYTES);
  }

  get size(): number {
    return this.#size;
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#bytes.length) this.#grow(Math.max(size, this.#bytes.length * 2));
    this.#bytes.set(piece, this.#size);
    this.#size = size;
  }

  take(): Uint8Array<ArrayBuffer> {
    return this.#size === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, this.#size);
  }

  #grow(length: number): void {
    const larger = new Uint8Array(length);
    larger.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = larger;
  }
}
