/**
 * Does something now and then by the clock, in the background, one at a time: a sweep. Closing waits for the one that
 * is under way, which may look at `isClosed` to end early.
 */
export class TimerLoop implements AsyncDisposable {
  readonly #periodMs: number;
  readonly #work: () => Promise<number>;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<number> | null = null;
  #closed = false;

  constructor(periodMs: number, work: () => Promise<number>, onError: (error: unknown) => void) {
    this.#periodMs = periodMs;
    this.#work = work;
    this.#onError = onError;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Works now, and again one period after each end. What fails is told and tried again. */
  start(): void {
    if (this.#closed || this.#timer !== null) return;
    void this.once()
      .catch(this.#onError)
      .finally(() => {
        if (this.#closed) return;
        this.#timer = setTimeout(() => {
          this.#timer = null;
          this.start();
        }, this.#periodMs);
        this.#timer.unref();
      });
  }

  /** Resolves to how much was done. A second one at the same time is the first. */
  once(): Promise<number> {
    this.#running ??= this.#work().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#running?.catch(() => {});
  }
}
