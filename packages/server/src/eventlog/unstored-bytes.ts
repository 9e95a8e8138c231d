/** A log that can be full, by its own events or by those of all. */
interface Fillable {
  readonly isFull: boolean;
}

/** What the runs of this node have said and the store has not taken yet, and who waits for room. */
export class UnstoredBytes {
  readonly #maxBytes: number;
  /** Told when somebody begins to wait: the next flush is due at once. */
  readonly #onWait: () => void;
  #waiting: { readonly log: Fillable; readonly goOn: () => void }[] = [];
  #bytes = 0;
  #waking = false;

  constructor(maxBytes: number, onWait: () => void) {
    this.#maxBytes = maxBytes;
    this.#onWait = onWait;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** On the road of every token. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  wait(log: Fillable, goOn: () => void): void {
    this.#waiting.push({ log, goOn });
    this.#onWait();
  }

  forget(log: Fillable): void {
    this.#waiting = this.#waiting.filter((one) => one.log !== log);
    this.wake();
  }

  /** There may be room. Those who waited read on in a turn of their own: whoever stored something is not in it. */
  wake(): void {
    if (this.#waiting.length === 0 || this.#waking) return;
    this.#waking = true;
    setImmediate(this.#letGoOn);
  }

  #letGoOn = (): void => {
    this.#waking = false;
    // In the order in which they came. Each log is asked anew: the one before may have filled the room.
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) {
      if (one.log.isFull) this.#waiting.push(one);
      else one.goOn();
    }
  };
}
