import type { RunId } from '../domain/ids.ts';
import {
  attemptBase,
  eventSize,
  eventWidth,
  lastFrameId,
  type RunEvent,
  type RunEventBody,
} from '../domain/run/events.ts';
import { encodeChunk } from './chunk-codec.ts';
import type { LiveLog, LiveReader } from './live-log.ts';
import type { UnstoredBytes } from './unstored-bytes.ts';

export interface Chunk {
  readonly first_id: number;
  readonly last_id: number;
  readonly data: string;
  /** True while a commit that has the chunk is not durable yet, but will be if a later one is. */
  isSent?: boolean;
}

export interface RunLogBounds {
  /** A chunk is closed before it exceeds this size, unless it is one event. */
  readonly chunkBytes: number;
  /** The limit of stored events that are still held in memory. */
  readonly heldBytes: number;
  /** When so many bytes of events of one run are not stored, the server does not read from its provider. */
  readonly unstoredRunBytes: number;
}

interface RunLogParts {
  readonly runId: RunId;
  readonly attempt: number;
  /** The events of this attempt that are already durable. */
  readonly stored: readonly RunEvent[];
  readonly bounds: RunLogBounds;
  readonly unstored: UnstoredBytes;
  readonly onAppend: (log: RunLog) => void;
}

/**
 * The hot end of one run's log, on the node that executes the run. An appended event reaches its readers in memory in the
 * same turn; the store gets it up to 100 ms later. It holds all events that are not stored yet, and the newest stored ones.
 */
export class RunLog implements LiveLog {
  readonly runId: RunId;
  readonly attempt: number;
  readonly #bounds: RunLogBounds;
  readonly #unstored: UnstoredBytes;
  readonly #onAppend: (log: RunLog) => void;
  readonly #readers = new Set<LiveReader>();
  /** Chunks that the store has not acknowledged. They keep their first and last ids, because a write may be under way. */
  readonly #unacknowledged: Chunk[] = [];
  #events: RunEvent[];
  #heldStoredBytes = 0;
  #unstoredBytes = 0;
  #nextId: number;
  /** Everything up to this id is in a chunk. */
  #chunkedId: number;
  #storedId: number;
  #deliveredCount: number;
  /** Events after this id are all held. */
  #droppedId: number;
  /** True from the moment when the end is written: its events have their ids, and no flush may store them before T4. */
  #ending = false;
  /** Null until the events of the end have their ids. */
  #lastIdBeforeEnd: number | null = null;
  #cut = false;
  /** When the oldest event outside any chunk was appended, and the oldest one in an unacknowledged chunk; 0 if none. */
  #unchunkedSince = 0;
  #unstoredSince = 0;
  /** Called with the time that the oldest event of a batch waited for the store. */
  onStored: ((lagMs: number) => void) | null = null;
  readonly startedAt = Date.now();
  /** True if the run's row already has the status `running`. */
  markedRunning = false;
  /** Called when the store refuses this run's events although it is available: the run cannot continue. */
  onRefused: ((error: unknown) => void) | null = null;
  /** Used by `EventLog`: true if this log is in the list of the next delivery. */
  deliveryPending = false;

  constructor({ runId, attempt, stored, bounds, unstored, onAppend }: RunLogParts) {
    this.runId = runId;
    this.attempt = attempt;
    this.#bounds = bounds;
    this.#unstored = unstored;
    this.#onAppend = onAppend;
    this.#events = [...stored];
    this.#deliveredCount = stored.length;
    for (const event of stored) this.#heldStoredBytes += eventSize(event);
    const last = stored.at(-1);
    const lastId = last === undefined ? attemptBase(attempt) : lastFrameId(last);
    this.#nextId = Math.max(lastId, attemptBase(attempt)) + 1;
    this.#chunkedId = this.#nextId - 1;
    this.#storedId = this.#chunkedId;
    this.#droppedId = (stored[0]?.id ?? this.#nextId) - 1;
  }

  get lastId(): number {
    return this.#nextId - 1;
  }

  /** Leaves out the events of the end, which count only together with the status that they report. */
  get lastIdBeforeEnd(): number {
    return this.#lastIdBeforeEnd ?? this.lastId;
  }

  get wantsFlush(): boolean {
    return !this.#ending && this.#storedId < this.lastId;
  }

  get unstoredBytes(): number {
    return this.#unstoredBytes;
  }

  /** True from 1 MiB unstored per run or 256 MiB per node on (the defaults): the provider's socket is paused. */
  get isFull(): boolean {
    return this.#unstoredBytes >= this.#bounds.unstoredRunBytes || this.#unstored.isFull;
  }

  /** Calls back once when there is room again, unless the run ends before that. */
  onceRoom(callback: () => void): void {
    this.#unstored.wait(this, callback);
  }

  #count(bytes: number): void {
    this.#unstoredBytes += bytes;
    this.#unstored.add(bytes);
  }

  /** Returns null and drops the event if the end is being written or the log is closed. */
  append(body: RunEventBody): RunEvent | null {
    if (this.#ending) return null;
    // Called for every token: the body becomes the event and is not copied.
    const event = body as RunEventBody & { id: number };
    event.id = this.#nextId;
    this.#nextId += eventWidth(body);
    this.#events.push(event);
    this.#count(eventSize(event));
    if (this.#unchunkedSince === 0) this.#unchunkedSince = performance.now();
    this.#onAppend(this);
    return event;
  }

  /** Gives ids to events that may be sent only after they are durable. Returns all chunks that must be stored for that. */
  prepare(bodies: readonly RunEventBody[]): { readonly events: RunEvent[]; readonly chunks: readonly Chunk[] } {
    this.#ending = true;
    this.#lastIdBeforeEnd = this.lastId;
    const events = this.#numbered(bodies);
    this.#cutChunks(events);
    return { events, chunks: [...this.#unacknowledged] };
  }

  /**
   * Does the same in the middle of a run, for a step whose output counts only if its transaction commits. All earlier
   * events must be stored, and nothing may be appended until `publish` is called or the events are given up.
   */
  draft(bodies: readonly RunEventBody[]): { readonly events: RunEvent[]; readonly chunks: readonly Chunk[] } {
    if (this.wantsFlush) throw new Error('The log has events that are not stored.');
    const events = this.#numbered(bodies);
    return { events, chunks: encodeWithin(events, this.#bounds.chunkBytes) };
  }

  #numbered(bodies: readonly RunEventBody[]): RunEvent[] {
    let id = this.#nextId;
    return bodies.map((body) => {
      const event: RunEvent = { ...body, id };
      id += eventWidth(body);
      return event;
    });
  }

  /** Nothing more of this log is stored: the run ends or continues in another way. */
  abandon(): void {
    this.#ending = true;
  }

  /** Sends the prepared events, which are durable now. */
  publish(events: readonly RunEvent[]): void {
    for (const event of events) {
      this.#events.push(event);
      this.#count(eventSize(event));
      this.#nextId = lastFrameId(event) + 1;
    }
    this.#chunkedId = this.lastId;
    this.acknowledge(this.lastId);
    this.#onAppend(this);
  }

  /** Returns every chunk that is not known to be stored. The last one ends with the newest event. */
  takeChunks(): readonly Chunk[] {
    this.#cutChunks([]);
    return [...this.#unacknowledged];
  }

  #cutChunks(further: readonly RunEvent[]): void {
    if (this.#unstoredSince === 0) this.#unstoredSince = this.#unchunkedSince;
    this.#unchunkedSince = 0;
    const start = this.#indexAfter(this.#chunkedId);
    const events = further.length === 0 ? this.#events.slice(start) : [...this.#events.slice(start), ...further];
    let from = 0;
    let bytes = 0;
    const close = (to: number) => {
      const last = events[to - 1];
      if (last === undefined) return;
      this.#unacknowledged.push(...encodeWithin(events.slice(from, to), this.#bounds.chunkBytes));
      this.#chunkedId = lastFrameId(last);
      from = to;
      bytes = 0;
    };
    for (let i = 0; i < events.length; i += 1) {
      const size = eventSize(events[i] as RunEvent);
      if (i > from && bytes + size > this.#bounds.chunkBytes) close(i);
      bytes += size;
    }
    close(events.length);
  }

  acknowledge(lastId: number): void {
    while (this.#unacknowledged[0] !== undefined && this.#unacknowledged[0].last_id <= lastId) {
      this.#unacknowledged.shift();
    }
    if (this.#unacknowledged.length === 0 && this.#unstoredSince !== 0) {
      this.onStored?.(performance.now() - this.#unstoredSince);
      this.#unstoredSince = 0;
    }
    if (lastId <= this.#storedId) return;
    const from = this.#indexAfter(this.#storedId);
    this.#storedId = lastId;
    const to = this.#indexAfter(lastId);
    let bytes = 0;
    for (let i = from; i < to; i += 1) bytes += eventSize(this.#events[i] as RunEvent);
    this.#heldStoredBytes += bytes;
    this.#count(-bytes);
    this.#unstored.wake();
    this.#trim();
  }

  /** Closes the log: its unstored events no longer count against the node's limit. */
  release(): void {
    this.#count(-this.#unstoredBytes);
    // A flush or step under way may still acknowledge, and a tool may still append: both are ignored from here on.
    this.#storedId = this.lastId;
    this.#unacknowledged.length = 0;
    this.#unstoredSince = 0;
    this.#ending = true;
    this.#unstored.forget(this);
  }

  /** Drops the oldest stored and delivered events until the rest is within the limit. */
  #trim(): void {
    if (this.#heldStoredBytes <= this.#bounds.heldBytes) return;
    let count = 0;
    while (count < this.#deliveredCount && this.#heldStoredBytes > this.#bounds.heldBytes) {
      const event = this.#events[count];
      if (event === undefined || lastFrameId(event) > this.#storedId) break;
      this.#heldStoredBytes -= eventSize(event);
      this.#droppedId = lastFrameId(event);
      count += 1;
    }
    if (count === 0) return;
    this.#events = this.#events.slice(count);
    this.#deliveredCount -= count;
  }

  /** Returns the index of the first held event with a frame after `id`. */
  #indexAfter(id: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (lastFrameId(this.#events[middle] as RunEvent) > id) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  heldAfter(cursor: number): { readonly events: readonly RunEvent[]; readonly from: number } | null {
    if (cursor < this.#droppedId) return null;
    return { events: this.#events, from: this.#indexAfter(cursor) };
  }

  attach(reader: LiveReader): void {
    this.#readers.add(reader);
  }

  detach(reader: LiveReader): void {
    this.#readers.delete(reader);
  }

  get readerCount(): number {
    return this.#readers.size;
  }

  /** Delivers everything that was appended since the last call. */
  deliver(): void {
    const from = this.#deliveredCount;
    if (from >= this.#events.length) return;
    this.#deliveredCount = this.#events.length;
    for (const reader of this.#readers) reader.deliver(this.#events, from);
  }

  /** True if the readers were cut: a reader that attaches later gets no end either. */
  get wasCut(): boolean {
    return this.#cut;
  }

  cut(): void {
    this.#cut = true;
    for (const reader of [...this.#readers]) reader.cut();
    this.#readers.clear();
  }
}

/** Sizes are estimated in characters and can be larger in bytes. If a chunk exceeds the limit, it is halved. */
export function encodeWithin(events: readonly RunEvent[], maxBytes: number, encode = encodeChunk): Chunk[] {
  const first = events[0];
  const last = events.at(-1);
  if (first === undefined || last === undefined) return [];
  const data = encode(events);
  if (events.length === 1 || Buffer.byteLength(data) <= maxBytes) {
    return [{ first_id: first.id, last_id: lastFrameId(last), data }];
  }
  const middle = events.length >>> 1;
  return [
    ...encodeWithin(events.slice(0, middle), maxBytes, encode),
    ...encodeWithin(events.slice(middle), maxBytes, encode),
  ];
}
