/** A log that is full because of its own events, or because of the events of all logs. */
interface Fillable {
  readonly isFull: boolean;
}

/** Counts the unstored bytes of all runs of this node, and wakes the logs that wait for room. */
export class UnstoredBytes {
  readonly #maxBytes: number;
  /** Called when a log starts to wait: the next flush starts immediately. */
  readonly #onWait: () => void;
  #waiting: { readonly log: Fillable; readonly callback: () => void }[] = [];
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

  /** Called for every token. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  wait(log: Fillable, callback: () => void): void {
    this.#waiting.push({ log, callback });
    this.#onWait();
  }

  forget(log: Fillable): void {
    this.#waiting = this.#waiting.filter((one) => one.log !== log);
    this.wake();
  }

  /** Called when there may be room. The waiting logs continue in their own turn of the event loop, not in the caller's. */
  wake(): void {
    if (this.#waiting.length === 0 || this.#waking) return;
    this.#waking = true;
    setImmediate(this.#wakeWaiting);
  }

  #wakeWaiting = (): void => {
    this.#waking = false;
    // In the order of arrival. Each log is checked again, because the one before it may have used the room.
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) {
      if (one.log.isFull) this.#waiting.push(one);
      else one.callback();
    }
  };
}
