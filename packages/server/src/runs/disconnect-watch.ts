import type { Logger } from '../telemetry/logger.ts';

interface WatchedRun {
  readonly integrationId: string;
  readers: number;
  /** When the last reader left, or when the run began without one. */
  aloneSince: number;
  cancelling: boolean;
}

const TICKS_PER_PATIENCE = 20;

/**
 * Counts the readers of runs whose integration says `onDisconnect: "cancel"`, and cancels a run that "no reader …
 * has been attached" to for its patience. Whoever reads counts: the first, a replay, a resumed stream. It lives as
 * long as the process serves: "shutdown or crash of a node is no disconnect".
 */
export class DisconnectWatch implements Disposable {
  readonly #runs = new Map<string, WatchedRun>();
  readonly #patienceMs: number;
  readonly #cancel: (integrationId: string, runId: string) => Promise<unknown>;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;

  constructor(patienceMs: number, cancel: (integrationId: string, runId: string) => Promise<unknown>, logger: Logger) {
    this.#patienceMs = patienceMs;
    this.#cancel = cancel;
    this.#logger = logger;
    this.#timer = setInterval(this.#tick, patienceMs / TICKS_PER_PATIENCE);
    this.#timer.unref();
  }

  /** Before any reader can come. */
  watch(runId: string, integrationId: string): void {
    this.#runs.set(runId, { integrationId, readers: 0, aloneSince: performance.now(), cancelling: false });
  }

  forget(runId: string): void {
    this.#runs.delete(runId);
  }

  came(runId: string): void {
    const run = this.#runs.get(runId);
    if (run !== undefined) run.readers += 1;
  }

  left(runId: string): void {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    run.readers -= 1;
    run.aloneSince = performance.now();
  }

  #tick = (): void => {
    const now = performance.now();
    for (const [runId, run] of this.#runs) {
      if (run.readers === 0 && !run.cancelling && now - run.aloneSince >= this.#patienceMs) {
        run.cancelling = true;
        void this.#cancelAlone(runId, run);
      }
    }
  };

  async #cancelAlone(runId: string, run: WatchedRun): Promise<void> {
    this.#logger.info({ runId }, 'nobody reads this run any more; it is cancelled, as its integration says');
    try {
      await this.#cancel(run.integrationId, runId);
    } catch (error) {
      this.#logger.warn({ err: error, runId }, 'a run that nobody reads could not be cancelled; it is tried again');
      run.aloneSince = performance.now();
      run.cancelling = false;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#runs.clear();
  }
}
