/** Stops the run between two steps. */
export interface StopPort {
  readonly signal: AbortSignal;
  /** True if the run stops as soon as no step is open. */
  stopsAfterStep(mayHandOver: boolean): boolean;
  /** Called while no step is open. Throws if the run stops here. */
  stepDone(mayHandOver: boolean): void;
}

/** The calls of earlier attempts. */
interface OpenCalls {
  readonly hasOpenCalls: boolean;
}

/**
 * Counts the open steps of all loops of a run. If the run must stop between two steps, no further step begins, and the run
 * stops when the last open one has ended.
 */
export class StepGate {
  readonly #stop: StopPort;
  readonly #calls: OpenCalls;
  #open = 0;
  #waiting = 0;

  constructor(stop: StopPort, calls: OpenCalls) {
    this.#stop = stop;
    this.#calls = calls;
  }

  /** False while a call of an earlier attempt is open: another node could not tell it from a new call. */
  get #mayHandOver(): boolean {
    return !this.#calls.hasOpenCalls;
  }

  /** Rejects if the run stops before the step can begin. */
  async step<T>(make: () => Promise<T>): Promise<T> {
    const stopped = this.begin();
    if (stopped !== null) await stopped;
    try {
      return await make();
    } finally {
      this.end();
    }
  }

  /** Begins a step, which the caller ends. Throws, or returns a promise that rejects, if the run stops before it. */
  begin(): Promise<never> | null {
    if (this.#open === 0) this.#stop.stepDone(this.#mayHandOver);
    else if (this.#stop.stopsAfterStep(this.#mayHandOver)) return this.#stopped();
    this.#open += 1;
    return null;
  }

  end(): void {
    this.#open -= 1;
    if (this.#open === 0 && this.#waiting > 0) this.#stopNow();
  }

  async #stopped(): Promise<never> {
    const { signal } = this.#stop;
    this.#waiting += 1;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    throw signal.reason;
  }

  /** The loops that wait reject, because their signal is aborted. */
  #stopNow(): void {
    try {
      this.#stop.stepDone(this.#mayHandOver);
    } catch {
      // The caller's own step has ended, and its next step would not begin.
    }
  }
}
