/** Bytes that somebody may hold, until it is disposed of. */
export interface Reservation extends Disposable {
  /** It takes no more than so many after all; never more than before. */
  shrinkTo(bytes: number): void;
}

interface Waiting {
  readonly whose: string;
  readonly bytes: number;
  readonly grant: () => void;
}

/**
 * Memory shared out before it is taken: first come, first served, and nobody has more than half. Who has half waits
 * without holding up the others behind; who waits for room is not overtaken, however little the next one wants.
 */
export class ByteBudget {
  readonly #totalBytes: number;
  readonly #shareBytes: number;
  readonly #held = new Map<string, number>();
  #heldBytes = 0;
  #waiting: Waiting[] = [];

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes;
    this.#shareBytes = Math.floor(totalBytes / 2);
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Waits for its turn; rejects with the signal's reason where that comes first. More than a share counts as one. */
  async reserve(whose: string, bytes: number, signal: AbortSignal): Promise<Reservation> {
    signal.throwIfAborted();
    const asked = Math.min(bytes, this.#shareBytes);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { whose, bytes: asked, grant: resolve };
    const abort = () => {
      const place = this.#waiting.indexOf(waiting);
      // Granted already: then whoever asked has it.
      if (place < 0) return;
      this.#waiting.splice(place, 1);
      reject(signal.reason);
      this.#grant();
    };
    signal.addEventListener('abort', abort);
    this.#waiting.push(waiting);
    this.#grant();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
    return this.#reservation(whose, asked);
  }

  #reservation(whose: string, asked: number): Reservation {
    let held = asked;
    const shrinkTo = (bytes: number) => {
      if (bytes >= held) return;
      this.#change(whose, bytes - held);
      held = bytes;
      this.#grant();
    };
    return { shrinkTo, [Symbol.dispose]: () => shrinkTo(0) };
  }

  #change(whose: string, by: number): void {
    this.#heldBytes += by;
    const own = (this.#held.get(whose) ?? 0) + by;
    if (own === 0) this.#held.delete(whose);
    else this.#held.set(whose, own);
  }

  #grant(): void {
    const full = new Set<string>();
    const left: Waiting[] = [];
    let hasRoom = true;
    for (const one of this.#waiting) {
      const own = this.#held.get(one.whose) ?? 0;
      if (own + one.bytes > this.#shareBytes) full.add(one.whose);
      else if (!full.has(one.whose) && this.#heldBytes + one.bytes > this.#totalBytes) hasRoom = false;
      if (!hasRoom || full.has(one.whose)) {
        left.push(one);
        continue;
      }
      this.#change(one.whose, one.bytes);
      one.grant();
    }
    this.#waiting = left;
  }
}
