/**
 * Runs `work` when it is woken and at least once per period, one at a time. If it is woken during the work, it runs
 * once more, so no wake is lost. The first failure in a row is reported, and the work is repeated at the next period.
 */
export class WakeableLoop implements AsyncDisposable {
  readonly #periodMs: number;
  readonly #work: (byClock: boolean) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | null = null;
  #busy = false;
  /** The most recently started work. */
  #working: Promise<void> = Promise.resolve();
  #woken = false;
  #failing = false;
  #closed = false;

  constructor(periodMs: number, work: (byClock: boolean) => Promise<void>, onError: (error: unknown) => void) {
    this.#periodMs = periodMs;
    this.#work = work;
    this.#onError = onError;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  start(): void {
    if (this.#closed || this.#timer !== null) return;
    this.#timer = setInterval(() => this.#begin(true), this.#periodMs);
    this.#timer.unref();
  }

  wake(): void {
    if (this.#busy) this.#woken = true;
    else this.#begin(false);
  }

  #begin(byClock: boolean): void {
    if (this.#closed || this.#busy) return;
    this.#busy = true;
    this.#working = this.#run(byClock);
  }

  async #run(byClock: boolean): Promise<void> {
    try {
      await this.#work(byClock);
      while (this.#woken && !this.#closed) {
        this.#woken = false;
        await this.#work(false);
      }
      this.#failing = false;
    } catch (error) {
      this.#woken = false;
      if (!this.#failing && !this.#closed) this.#onError(error);
      this.#failing = true;
    } finally {
      // Set in the same step as the last check for wakes: a later wake starts a new round.
      this.#busy = false;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#working;
  }
}
