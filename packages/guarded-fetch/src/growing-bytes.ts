const FIRST_BYTES = 64 * 1024;

/** Collects bytes in one buffer, which can be transferred to a worker without a copy. */
export class GrowingBytes {
  #bytes: Uint8Array<ArrayBuffer>;
  #size = 0;
  readonly #maxBytes: number;

  /** `expected` is the announced size, or null. At most `maxBytes` are added. */
  constructor(expected: number | null, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#bytes = new Uint8Array(expected ?? Math.min(FIRST_BYTES, maxBytes));
  }

  get size(): number {
    return this.#size;
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#bytes.length) this.#grow(Math.max(size, Math.min(this.#bytes.length * 2, this.#maxBytes)));
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
