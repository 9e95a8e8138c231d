import type { RunFailure } from '../domain/run-failure.ts';
import type { CancelMode } from '../domain/run-state.ts';

/** "Stop has two kinds": somebody cancelled the run, or this process ends and leaves it. Besides, a run can fail from outside. */
export class StopHandle {
  readonly #controller = new AbortController();
  #cancelled = false;
  #afterStep = false;
  #shutDown = false;
  #lost = false;
  #handsOver = false;
  #handedOver = false;
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

  /** Another has the run, or may have: nothing more of this attempt may be written. */
  get isLost(): boolean {
    return this.#lost;
  }

  lose(): void {
    this.#lost = true;
    this.#controller.abort();
  }

  /** Whether the run was left at the end of a step for another node to go on with. */
  get isHandedOver(): boolean {
    return this.#handedOver;
  }

  /** Whether the run is others' from here on: handed over, left where it is, or lost to them. */
  get isLeft(): boolean {
    return this.#handedOver || this.#shutDown || this.#lost;
  }

  /** This process ends soon: the run is left at the end of its step. */
  handOver(): void {
    this.#handsOver = true;
  }

  /**
   * A step is done, or none is begun yet: the place where `after_step` takes hold, and where a run is handed over, unless
   * whoever takes it could not tell that no call is under way.
   */
  stepDone(mayHandOver: boolean): void {
    // What came before has the word: a run past its limit ends here.
    this.signal.throwIfAborted();
    if (this.#afterStep) this.cancel('immediate');
    else if (this.#handsOver && mayHandOver) {
      this.#handedOver = true;
      this.#controller.abort();
    }
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

  /** This process ends now: the run is left where it is, and nothing is waited for. */
  shutDown(): void {
    this.#shutDown = true;
    this.#controller.abort();
  }
}
