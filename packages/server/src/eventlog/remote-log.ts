import type { RunEvent } from '../domain/events.ts';
import type { RunId } from '../domain/ids.ts';
import type { LiveLog, LiveReader } from './live-log.ts';

const NOTHING = { events: [], from: 0 } as const;

/**
 * The log of a run that another node executes. It exists while a reader on this node follows the run. It holds no events:
 * new ones are delivered to all readers immediately, and a reader without room reads them from the store later.
 */
export class RemoteLog implements LiveLog {
  readonly runId: RunId;
  readonly #onLeft: (log: RemoteLog) => void;
  readonly #readers = new Set<LiveReader>();
  /** The readers have all stored events up to this id. */
  #lastId: number;
  /** The node that executes the run, as of the last query; null before the first one. */
  nodeId: string | null = null;

  constructor(runId: RunId, lastId: number, onLeft: (log: RemoteLog) => void) {
    this.runId = runId;
    this.#lastId = lastId;
    this.#onLeft = onLeft;
  }

  get lastId(): number {
    return this.#lastId;
  }

  /** Returns null if the reader has less than was delivered: it reads the store first. */
  heldAfter(cursor: number): typeof NOTHING | null {
    return cursor < this.#lastId ? null : NOTHING;
  }

  /** A new reader has less than the others. The events that it lacks are delivered again; the others skip them. */
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

  /** Called when the run has ended and no stored event follows. Readers that have its `end` have left. */
  end(): void {
    for (const reader of this.#leave()) reader.ended();
  }

  /** Called when this node has taken the run over. */
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
