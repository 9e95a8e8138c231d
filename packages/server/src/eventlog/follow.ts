import type { PageTurns } from '@runwire/lib/page-turns.ts';
import type { OwnerId, RunId } from '../domain/ids.ts';
import { lastFrameId, type RunEvent } from '../domain/run/events.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { EventLog } from './event-log.ts';
import type { LiveLog, LiveReader } from './live-log.ts';

/** Receives the events: a connection and its framing. */
export interface Sink {
  /**
   * Takes `events` from the index `from` on while it has room, and skips frames up to `cursor`. Returns the id of the last
   * frame that it took, which may be inside an event, or `cursor`.
   */
  take(events: readonly RunEvent[], from: number, cursor: number): number;
  /** True if there is no room; `Follower.resume` is called when there is room again. */
  readonly full: boolean;
  /** Called after the last event was taken. */
  finish(): void;
  /** No further event follows on this connection; the reader has to reconnect. */
  cut(): void;
}

type Turns = Pick<PageTurns, 'take'>;

/** What a follower reads, and for whom. */
export interface FollowedEvents {
  readonly runId: RunId;
  /** The id of the last event that the reader has; 0 if it reads from the start. */
  readonly after: number;
  /** The owner that reads: the pages of all its readers share its turns. */
  readonly ownerId: OwnerId;
}

/** The pause between two reads while the store is unavailable. */
const RETRY_MS = 1000;

/*
 * A follower's states:
 *
 *   reading ──(nothing newer)──▶ live ──(sink full)──▶ waiting ──(resume)──▶ reading
 *      └──────────────(sink full)───────────────────────▲
 *
 * When reading: it takes what the hot end still holds, otherwise one page after the other from the store. Each page from
 * the store, and each page after its reader was behind, waits for its owner's turn.
 * When live: it is attached to the hot end, or to the remote log if another node executes the run. If the run moves to
 * this node, it reads again.
 * When waiting: it is attached to nothing and holds only its cursor, so a slow reader costs only its socket's buffer.
 * If the store is unavailable it waits too, and reads again after a second.
 */
export class Follower implements LiveReader {
  readonly #eventLog: EventLog;
  readonly #turns: Turns;
  readonly #runId: RunId;
  readonly #ownerId: OwnerId;
  readonly #sink: Sink;
  #cursor: number;
  #attachedTo: LiveLog | null = null;
  #reading = false;
  #again: NodeJS.Timeout | null = null;
  #closed = false;
  /** True if the events so far were compacted. A reader gets either all events or the compacted ones, never a mixture. */
  #compacted = false;
  /** True if the run has ended before the cursor. */
  #isAfterEnd = false;
  #wasBehind = false;

  constructor(eventLog: EventLog, turns: Turns, { runId, after, ownerId }: FollowedEvents, sink: Sink) {
    this.#eventLog = eventLog;
    this.#turns = turns;
    this.#runId = runId;
    this.#ownerId = ownerId;
    this.#cursor = after;
    this.#sink = sink;
  }

  get cursor(): number {
    return this.#cursor;
  }

  start(): void {
    void this.#read();
  }

  /** Called when the reader has room again. */
  resume(): void {
    this.#wasBehind = true;
    void this.#read();
  }

  close(): void {
    this.#closed = true;
    if (this.#again !== null) clearTimeout(this.#again);
    this.#attachedTo?.detach(this);
    this.#attachedTo = null;
  }

  deliver(events: readonly RunEvent[], from: number): void {
    if (!this.#sink.full) this.#take(events, from);
    if (!this.#sink.full && !this.#isAfterEnd) return;
    this.#attachedTo?.detach(this);
    this.#attachedTo = null;
    if (this.#isAfterEnd) void this.#read();
  }

  ended(): void {
    this.#isAfterEnd = true;
    this.#attachedTo = null;
    void this.#read();
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

  /** Returns true if everything was taken. */
  #take(events: readonly RunEvent[], from: number): boolean {
    const last = events.at(-1);
    if (last === undefined) return true;
    let start = from;
    while (start < events.length && lastFrameId(events[start] as RunEvent) <= this.#cursor) start += 1;
    if (start < events.length) this.#cursor = this.#sink.take(events, start, this.#cursor);
    else if (last.type === 'end') {
      this.#isAfterEnd = true;
      return false;
    }
    if (this.#cursor < lastFrameId(last)) return false;
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
        if (this.#isAfterEnd && !(await this.#goBackToEnd())) return this.cut();
        let log = this.#eventLog.live(this.#runId);
        let held = log?.heldAfter(this.#cursor) ?? null;
        using turn = held === null || this.#wasBehind ? await this.#turns.take(this.#ownerId) : null;
        if (turn !== null) {
          if (this.#closed || this.#sink.full) return;
          log = this.#eventLog.live(this.#runId);
          held = log?.heldAfter(this.#cursor) ?? null;
        }
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
          const remote = this.#eventLog.followElsewhere(this.#runId, this.#cursor);
          if (remote !== null) return this.#attach(remote);
          // No node executes the run, so it has ended.
          this.#isAfterEnd = true;
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

  /**
   * The cursor is after the end: the reader saw more of an attempt that was discarded. It continues with `messages`. Returns
   * false if the end is not stored.
   */
  async #goBackToEnd(): Promise<boolean> {
    const before = await this.#eventLog.idBeforeEnd(this.#runId);
    if (before === null || before >= this.#cursor) return false;
    this.#isAfterEnd = false;
    this.#cursor = before;
    return true;
  }

  #readLater(): void {
    if (this.#closed) return;
    // The run has reached its time limit, and its readers were cut: none of them waits for the store.
    if (this.#eventLog.hot(this.#runId)?.wasCut) this.cut();
    else {
      if (this.#again !== null) clearTimeout(this.#again);
      this.#again = setTimeout(() => void this.#read(), RETRY_MS);
      this.#again.unref();
    }
  }
}
