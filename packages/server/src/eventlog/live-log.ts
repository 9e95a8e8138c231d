import type { RunEvent } from '../domain/events.ts';

/** A reader at the newest end of a log. */
export interface LiveReader {
  /** The events from `from` on are new. The array is shared between all readers. */
  deliver(events: readonly RunEvent[], from: number): void;
  /** The log is no longer here, but there is one elsewhere that goes on: it is detached, and reads on from its cursor. */
  moved(): void;
  /** The run is given up here without an end: the connection is to be cut. */
  cut(): void;
}

/** The newest end of one run's log: that of a run of this node, or of one that another node runs. */
export interface LiveLog {
  /** Held events after `cursor`, or null where the first of them is no longer held. */
  heldAfter(cursor: number): { readonly events: readonly RunEvent[]; readonly from: number } | null;
  attach(reader: LiveReader): void;
  detach(reader: LiveReader): void;
}
