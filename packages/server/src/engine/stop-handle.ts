import type { RunFailure } from '../domain/run/run-failure.ts';
import type { CancelMode } from '../domain/run/run-state.ts';

/** Why a run stops on this node before its model has finished. */
export type StopReason =
  /** The other nodes have fenced this node: this attempt must write nothing more. */
  | { readonly kind: 'lost' }
  /**
   * This process ends now. The run stays unfinished and waits for nothing. `betweenSteps` is true if it was already being
   * handed over.
   */
  | { readonly kind: 'shut_down'; readonly betweenSteps: boolean }
  /** The store refuses the run's events for good. */
  | { readonly kind: 'refused'; readonly error: unknown }
  /** A caller cancelled the run. */
  | { readonly kind: 'cancelled' }
  /** The run has passed a limit. */
  | { readonly kind: 'failed'; readonly failure: RunFailure }
  /** This process ends soon. The run has no step under way, so another node can resume it. */
  | { readonly kind: 'handed_over' };

/**
 * If several reasons arrive, the reason with the higher number counts; of two with the same number, the first. Every
 * reason that leaves the run to another node is stronger than a reason that ends it here, except for a handover: a run
 * that is cancelled while it is being handed over ends here, as it would on the other node.
 */
const PRECEDENCE: Readonly<Record<StopReason['kind'], number>> = {
  lost: 5,
  shut_down: 4,
  refused: 3,
  cancelled: 2,
  failed: 1,
  handed_over: 1,
};

/** Stops one run: `now`, or when its current step has ended. */
export class StopHandle {
  readonly #controller = new AbortController();
  #reason: StopReason | null = null;
  /** What happens at the end of the current step; null if the run continues. */
  #afterStep: 'cancelled' | 'handed_over' | null = null;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The strongest reason so far; null while the run may continue. */
  get reason(): StopReason | null {
    return this.#reason;
  }

  now(reason: StopReason): void {
    const current = this.#reason;
    if (current === null || PRECEDENCE[reason.kind] > PRECEDENCE[current.kind]) this.#reason = reason;
    this.#controller.abort();
  }

  cancel(mode: CancelMode): void {
    if (mode === 'after_step') this.#afterStep = 'cancelled';
    else this.now({ kind: 'cancelled' });
  }

  /** This process ends soon: the run is handed over at the end of its step. */
  handOver(): void {
    this.#afterStep ??= 'handed_over';
  }

  /** This process ends now. */
  shutDown(): void {
    this.now({ kind: 'shut_down', betweenSteps: this.#reason?.kind === 'handed_over' });
  }

  /** True if the run stops when no step is open. */
  stopsAfterStep(mayHandOver: boolean): boolean {
    return this.#afterStep === 'cancelled' || (this.#afterStep === 'handed_over' && mayHandOver);
  }

  /**
   * Called between two steps and before the first one. Throws if the run stops here. `mayHandOver` is false if a node that
   * resumed the run could not tell that no tool call is under way.
   */
  stepDone(mayHandOver: boolean): void {
    // A run that has passed a limit during the step ends with that failure.
    this.signal.throwIfAborted();
    if (this.#afterStep !== null && this.stopsAfterStep(mayHandOver)) this.now({ kind: this.#afterStep });
    this.signal.throwIfAborted();
  }
}
