/**
 * Does something whenever it is woken, and once in each period in any case; one at a time. Woken while it works, it
 * works once more behind that, so that no wake is lost. What fails is told once, and tried again at the next period.
 */
export class WokenLoop implements AsyncDisposable {
  readonly #periodMs: number;
  readonly #work: (byClock: boolean) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | null = null;
  #working: Promise<void> | null = null;
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
    if (this.#working === null) this.#begin(false);
    else this.#woken = true;
  }

  #begin(byClock: boolean): void {
    if (this.#closed || this.#working !== null) return;
    this.#working = this.#run(byClock).finally(() => {
      this.#working = null;
    });
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
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#working;
  }
}
