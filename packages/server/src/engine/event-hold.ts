import type { RunEventBody } from '../domain/run/events.ts';
import type { RunLog } from '../eventlog/run-log.ts';

const RELEASED = Promise.resolve();

/**
 * Holds the events of a run back while a step commits on another connection than the writer's. The events of that step
 * get their ids before the commit, so no other event of the run may be appended until then.
 */
export class EventHold {
  readonly #log: RunLog;
  #held: RunEventBody[] | null = null;
  #released = RELEASED;

  constructor(log: RunLog) {
    this.#log = log;
  }

  emit(event: RunEventBody): void {
    if (this.#held === null) this.#log.append(event);
    else this.#held.push(event);
  }

  /** Null if nothing is held now; otherwise resolves when nothing is held any more. */
  get freed(): Promise<void> | null {
    return this.#held === null ? null : this.#free();
  }

  async #free(): Promise<void> {
    while (this.#held !== null) await this.#released;
  }

  /** Runs jobs one after the other. Events that are emitted during a job are appended after it. */
  async during<T>(job: () => Promise<T>): Promise<T> {
    // No wait between the last look and the hold: two jobs could begin in it.
    while (this.#held !== null) await this.#released;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#released = promise;
    const held: RunEventBody[] = [];
    this.#held = held;
    try {
      return await job();
    } finally {
      this.#held = null;
      for (const event of held) this.#log.append(event);
      resolve();
    }
  }
}
