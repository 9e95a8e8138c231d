/** How long a result still counts after the time of its call was over. */
export const GRACE_MS = 5000;

/** The time that one call of a tool may take. */
export class CallLimit implements Disposable {
  readonly #controller = new AbortController();
  readonly #run: AbortSignal;
  readonly #timers: NodeJS.Timeout[];
  readonly #stop = () => this.#controller.abort(this.#run.reason);
  readonly #expired = Promise.withResolvers<never>();
  readonly #sentence: string;

  /** `run` is the run's signal, whose end ends the call too. */
  constructor(run: AbortSignal, timeoutMs: number) {
    this.#run = run;
    this.#sentence = `The tool took longer than ${timeoutMs / 1000} seconds and was stopped.`;
    run.addEventListener('abort', this.#stop, { once: true });
    if (run.aborted) this.#stop();
    this.#expired.promise.catch(() => {});
    this.#timers = [
      setTimeout(() => this.#controller.abort(new Error(this.#sentence)), timeoutMs),
      setTimeout(() => this.#expired.reject(new Error(this.#sentence)), timeoutMs + GRACE_MS),
    ];
  }

  /** Aborted if the time is over, or if the run is. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Resolves like the call. Rejects with a sentence if the call fails after its time was over, or does not end. */
  race<T>(call: Promise<T>): Promise<T> {
    const checked = call.catch((error: unknown) => {
      throw this.signal.aborted && !this.#run.aborted ? new Error(this.#sentence) : error;
    });
    return Promise.race([checked, this.#expired.promise]);
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#run.removeEventListener('abort', this.#stop);
  }
}
