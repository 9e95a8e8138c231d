import type { RunEvent } from '../domain/run/events.ts';

/** A reader at the newest end of a log. */
export interface LiveReader {
  /** The events from the index `from` on are new. All readers share the array. */
  deliver(events: readonly RunEvent[], from: number): void;
  /** Another log continues the run. The reader is detached, and reads again from its cursor. */
  moved(): void;
  /** The run has ended, and the reader has a later cursor than the end. It is detached. */
  ended(): void;
  /** The log ends without the run's end: the reader closes its connection. */
  cut(): void;
}

/** The newest end of one run's log, whether this node or another one executes the run. */
export interface LiveLog {
  /** Returns the held events after `cursor`, or null if the first of them is no longer held. */
  heldAfter(cursor: number): { readonly events: readonly RunEvent[]; readonly from: number } | null;
  attach(reader: LiveReader): void;
  detach(reader: LiveReader): void;
}
