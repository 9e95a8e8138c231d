import type { CancelMode } from '../domain/run-state.ts';

/** "Stop has two kinds": somebody cancelled the run, or this process ends and leaves it. A third is a fault. */
export class StopHandle {
  readonly #controller = new AbortController();
  #cancelled = false;
  #afterStep = false;
  #shutDown = false;
  #refusedBy: { readonly error: unknown } | null = null;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  get isShutDown(): boolean {
    return this.#shutDown;
  }

  cancel(mode: CancelMode): void {
    if (mode === 'after_step') {
      this.#afterStep = true;
      return;
    }
    this.#cancelled = true;
    this.#controller.abort();
  }

  /** A step is done: the place where `after_step` takes hold. */
  stepDone(): void {
    if (this.#afterStep) this.cancel('immediate');
    this.signal.throwIfAborted();
  }

  /** What the run has to say cannot be stored. */
  refuse(error: unknown): void {
    this.#refusedBy ??= { error };
    this.#controller.abort();
  }

  throwIfRefused(): void {
    if (this.#refusedBy !== null) throw this.#refusedBy.error;
  }

  shutDown(): void {
    this.#shutDown = true;
    this.#controller.abort();
  }
}
