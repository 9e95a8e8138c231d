import type { RunLog } from '../eventlog/run-log.ts';

/** A step's attempt, and its first and last event. */
interface StepPosition {
  readonly attempt: number;
  readonly firstEventId: number;
  readonly lastEventId: number;
}

/**
 * Numbers the step events. Steps of parallel tools overlap, so each step is recorded as starting after the end of
 * the step that finished before it.
 */
export class StepIds {
  readonly #log: RunLog;
  #firstId: number;

  constructor(log: RunLog) {
    this.#log = log;
    this.#firstId = log.lastId + 1;
  }

  journalled<S>(step: S): S & StepPosition {
    const journalled = this.draft(step, this.#log.lastId);
    this.#firstId = journalled.lastEventId + 1;
    return journalled;
  }

  /** Does not count the step: its events are not in the log yet. */
  draft<S>(step: S, lastEventId: number): S & StepPosition {
    // A step without an event of its own has the last one before it.
    const firstEventId = Math.min(this.#firstId, lastEventId);
    return { ...step, attempt: this.#log.attempt, firstEventId, lastEventId };
  }
}
