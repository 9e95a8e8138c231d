import type { RunFailure } from '../agent/ports.ts';
import type { CancelMode } from '../domain/run-state.ts';

/** "Stop has two kinds": somebody cancelled the run, or this process ends and leaves it. Besides, a run can fail from outside. */
export class StopHandle {
  readonly #controller = new AbortController();
  #cancelled = false;
  #afterStep = false;
  #shutDown = false;
  #failure: RunFailure | null = null;
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

  /** A limit that the run has passed, or null. */
  get failure(): RunFailure | null {
    return this.#failure;
  }

  /** The run has passed a limit. */
  fail(failure: RunFailure): void {
    if (this.signal.aborted) return;
    this.#failure = failure;
    this.#controller.abort();
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
