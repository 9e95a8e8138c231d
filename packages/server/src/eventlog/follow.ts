import { lastFrameId, type RunEvent } from '../domain/events.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { EventLog } from './event-log.ts';
import type { LiveLog, LiveReader } from './live-log.ts';

/** Who the events are for: a connection and its framing. */
export interface Sink {
  /**
   * Takes `events` from `from` on, leaving out frames up to `cursor`, as long as it has room. Returns the id of the
   * last frame it took, which may stand within an event, or `cursor`.
   */
  take(events: readonly RunEvent[], from: number, cursor: number): number;
  /** No room; `Follower.resume` is called when there is some again. */
  readonly full: boolean;
  /** The last event was taken. */
  finish(): void;
  /** The rest will not come here; the reader has to ask again. */
  cut(): void;
}

/** While the store is away it is asked again so often. */
const AGAIN_MS = 1000;

/*
 * Where a follower stands:
 *
 *   reading ──(nothing newer)──▶ live ──(sink full)──▶ waiting ──(resume)──▶ reading
 *      └──────────────(sink full)───────────────────────▲
 *
 * reading: from what the hot end still holds, else from the store, a page at a time. live: attached to the hot end, or
 * where another node runs the run to what is heard of it here; where it moves to this node, it reads on. waiting: attached to nothing and holding nothing but its cursor, so a slow
 * reader costs what its socket holds. Where the store is away it waits likewise, and reads on by itself.
 */
export class Follower implements LiveReader {
  readonly #eventLog: EventLog;
  readonly #runId: string;
  readonly #sink: Sink;
  #cursor: number;
  #attachedTo: LiveLog | null = null;
  #reading = false;
  #again: NodeJS.Timeout | null = null;
  #closed = false;
  /** Whether what was taken so far was compacted: a reader gets the whole run or what stays of it, never a mixture. */
  #compacted = false;

  constructor(eventLog: EventLog, runId: string, after: number, sink: Sink) {
    this.#eventLog = eventLog;
    this.#runId = runId;
    this.#cursor = after;
    this.#sink = sink;
  }

  get cursor(): number {
    return this.#cursor;
  }

  start(): void {
    void this.#read();
  }

  resume(): void {
    void this.#read();
  }

  close(): void {
    this.#closed = true;
    if (this.#again !== null) clearTimeout(this.#again);
    this.#attachedTo?.detach(this);
    this.#attachedTo = null;
  }

  deliver(events: readonly RunEvent[], from: number): void {
    if (this.#sink.full) {
      this.#attachedTo?.detach(this);
      this.#attachedTo = null;
      return;
    }
    this.#take(events, from);
    if (this.#sink.full) {
      this.#attachedTo?.detach(this);
      this.#attachedTo = null;
    }
  }

  moved(): void {
    this.#attachedTo = null;
    void this.#read();
  }

  cut(): void {
    if (this.#closed) return;
    this.close();
    this.#sink.cut();
  }

  /** Returns whether everything was taken. */
  #take(events: readonly RunEvent[], from: number): boolean {
    const last = events.at(-1);
    if (last === undefined) return true;
    let start = from;
    while (start < events.length && lastFrameId(events[start] as RunEvent) <= this.#cursor) start += 1;
    if (start < events.length) this.#cursor = this.#sink.take(events, start, this.#cursor);
    if (this.#cursor < lastFrameId(last)) return false;
    // Also if the cursor was after the end from the start: nothing will follow.
    if (last.type === 'end') {
      this.close();
      this.#sink.finish();
    }
    return true;
  }

  #attach(log: LiveLog): void {
    log.attach(this);
    this.#attachedTo = log;
  }

  async #read(): Promise<void> {
    if (this.#reading || this.#attachedTo !== null) return;
    this.#reading = true;
    try {
      while (!this.#closed && !this.#sink.full) {
        const log = this.#eventLog.live(this.#runId);
        const held = log?.heldAfter(this.#cursor) ?? null;
        if (log !== undefined && held !== null) {
          const all = this.#take(held.events, held.from);
          if (this.#closed) return;
          if (all && !this.#sink.full) return this.#attach(log);
          continue;
        }
        const page = await this.#eventLog.storedAfter(this.#runId, this.#cursor);
        if (this.#closed) return;
        if (page !== null) {
          if (page.compacted && !this.#compacted && this.#cursor > 0) return this.cut();
          this.#compacted = page.compacted;
          this.#take(page.events, 0);
        } else if (this.#eventLog.hot(this.#runId) === undefined) {
          const far = this.#eventLog.followElsewhere(this.#runId, this.#cursor);
          return far === null ? this.cut() : this.#attach(far);
        }
      }
    } catch (error) {
      if (error instanceof StoreUnavailable) return this.#readLater();
      this.#eventLog.readFailed(this.#runId, error);
      this.cut();
    } finally {
      this.#reading = false;
    }
  }

  #readLater(): void {
    if (this.#closed) return;
    // The run came to its limit meanwhile: none of its readers waits for the store.
    if (this.#eventLog.hot(this.#runId)?.wasCut) this.cut();
    else {
      if (this.#again !== null) clearTimeout(this.#again);
      this.#again = setTimeout(() => void this.#read(), AGAIN_MS);
      this.#again.unref();
    }
  }
}
