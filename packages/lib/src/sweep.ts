interface SweepLog {
  error(fields: object, sentence: string): void;
}

/**
 * Runs a sweep periodically in the background, one at a time. Closing waits for the current sweep, which may check
 * `isClosed` to end early.
 */
export abstract class Sweep implements AsyncDisposable {
  readonly #periodMs: number;
  readonly #what: string;
  readonly #log: SweepLog;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<number> | null = null;
  #started = false;
  #closed = false;

  /** `what` names the swept things in the log. */
  constructor(periodMs: number, what: string, log: SweepLog) {
    this.#periodMs = periodMs;
    this.#what = what;
    this.#log = log;
  }

  /** Resolves to the number of swept things. */
  protected abstract sweepOnce(): Promise<number>;

  protected get isClosed(): boolean {
    return this.#closed;
  }

  /**
   * Sweeps immediately and again one period after each end. A failure is logged, and the sweep is repeated after a
   * period.
   */
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

  /** Resolves to the number of swept things. A second call during a sweep returns the same promise. */
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
