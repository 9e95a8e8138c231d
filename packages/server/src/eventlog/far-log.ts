import type { RunEvent } from '../domain/events.ts';
import type { LiveLog, LiveReader } from './live-log.ts';

const NOTHING = { events: [], from: 0 } as const;

/**
 * The log of a run that another node runs, as long as somebody follows it here. It holds no events: what it is told
 * reaches all its readers at once, and whoever has no room reads it from the store later.
 */
export class FarLog implements LiveLog {
  readonly runId: string;
  readonly #onLeft: (log: FarLog) => void;
  readonly #readers = new Set<LiveReader>();
  /** All stored events up to this id were handed to the readers, or they had them before they came. */
  #lastId: number;
  /** The node that runs it, as last heard; null: not asked yet. */
  nodeId: string | null = null;

  constructor(runId: string, lastId: number, onLeft: (log: FarLog) => void) {
    this.runId = runId;
    this.#lastId = lastId;
    this.#onLeft = onLeft;
  }

  get lastId(): number {
    return this.#lastId;
  }

  /** Whoever is behind what was handed out reads the store first. */
  heldAfter(cursor: number): typeof NOTHING | null {
    return cursor < this.#lastId ? null : NOTHING;
  }

  /** One comes that has less: what it lacks is handed out anew, and whoever has it leaves it out. */
  goBackTo(cursor: number): void {
    this.#lastId = Math.min(this.#lastId, cursor);
  }

  attach(reader: LiveReader): void {
    this.#readers.add(reader);
  }

  detach(reader: LiveReader): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) this.#onLeft(this);
  }

  hand(events: readonly RunEvent[], lastId: number): void {
    this.#lastId = lastId;
    for (const reader of [...this.#readers]) reader.deliver(events, 0);
  }

  cut(): void {
    for (const reader of this.#leave()) reader.cut();
  }

  /** The run is this node's now. */
  move(): void {
    for (const reader of this.#leave()) reader.moved();
  }

  #leave(): LiveReader[] {
    const readers = [...this.#readers];
    this.#readers.clear();
    this.#onLeft(this);
    return readers;
  }
}
