interface SweepLog {
  error(fields: object, sentence: string): void;
}

/**
 * What is swept now and then by the clock, in the background, one sweep at a time. Closing waits for the one that is under
 * way, which may look at `isClosed` to end early.
 */
export abstract class Sweep implements AsyncDisposable {
  readonly #periodMs: number;
  readonly #what: string;
  readonly #log: SweepLog;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<number> | null = null;
  #started = false;
  #closed = false;

  /** `what` is swept, for the log. */
  constructor(periodMs: number, what: string, log: SweepLog) {
    this.#periodMs = periodMs;
    this.#what = what;
    this.#log = log;
  }

  /** Resolves to how much was done. */
  protected abstract sweepOnce(): Promise<number>;

  protected get isClosed(): boolean {
    return this.#closed;
  }

  /** Sweeps now, in the background, and again one period after each end. What fails is told and tried again. */
  start(): void {
    if (this.#started || this.#closed) return;
    this.#started = true;
    this.#sweepAgainAndAgain();
  }

  #sweepAgainAndAgain(): void {
    void this.sweep()
      .catch((error) => this.#log.error({ err: error }, `${this.#what} could not be swept; retrying`))
      .finally(() => {
        if (this.#closed) return;
        this.#timer = setTimeout(() => {
          this.#timer = null;
          this.#sweepAgainAndAgain();
        }, this.#periodMs);
        this.#timer.unref();
      });
  }

  /** Resolves to how much was done. A second one at the same time is the first. */
  sweep(): Promise<number> {
    this.#running ??= this.sweepOnce().finally(() => {
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
