import { attemptBase, eventSize, eventWidth, lastFrameId, type RunEvent, type RunEventBody } from '../domain/events.ts';
import { encodeChunk } from './chunk-codec.ts';
import type { LiveLog, LiveReader } from './live-log.ts';
import type { UnstoredBytes } from './unstored-bytes.ts';

export interface Chunk {
  readonly firstId: number;
  readonly lastId: number;
  readonly data: string;
}

export interface RunLogBounds {
  /** A chunk is closed before it grows past this, unless it is one event. */
  readonly chunkBytes: number;
  /** Stored events still held in memory. */
  readonly heldBytes: number;
  /** Events of one run that are not stored: from here on its model is not listened to. */
  readonly unstoredRunBytes: number;
}

/**
 * The hot end of one run's log on the node that runs it: an appended event reaches its readers in memory at once,
 * the store gets it a little later. Held here are all events that are not stored yet, and the newest stored ones.
 */
export class RunLog implements LiveLog {
  readonly runId: string;
  readonly attempt: number;
  readonly #bounds: RunLogBounds;
  readonly #unstored: UnstoredBytes;
  readonly #onAppend: (log: RunLog) => void;
  readonly #readers = new Set<LiveReader>();
  /** Cut, and perhaps under way, but not acknowledged: they keep their bounds. */
  readonly #unacknowledged: Chunk[] = [];
  #held: RunEvent[];
  #heldStoredBytes = 0;
  #unstoredBytes = 0;
  #nextId: number;
  /** Everything up to this id is in a chunk. */
  #chunkedId: number;
  #storedId: number;
  #deliveredCount: number;
  /** Events after this id are all held. */
  #droppedId: number;
  /** Set once the end is being made durable: its events must not reach the store by a mere flush, and have taken their ids. */
  #ending = false;
  /** Null until the events of the end have taken their ids. */
  #lastIdBeforeEnd: number | null = null;
  #cut = false;
  /** When the oldest event was appended that no chunk holds yet, and when the oldest in an unacknowledged one; 0: none. */
  #unchunkedSince = 0;
  #unstoredSince = 0;
  /** Called with the time that the oldest event of a batch waited for the store. */
  onStored: ((lagMs: number) => void) | null = null;
  readonly startedAt = Date.now();
  /** Whether the run's row already says `running`. */
  markedRunning = false;
  /** The store refuses this run's events, and not because it is away: the run cannot go on. */
  onRefused: ((error: unknown) => void) | null = null;
  /** Kept for the log that owns this one: it is on the list of the next delivery. */
  deliveryPending = false;

  constructor(
    runId: string,
    attempt: number,
    stored: readonly RunEvent[],
    bounds: RunLogBounds,
    unstored: UnstoredBytes,
    onAppend: (log: RunLog) => void,
  ) {
    this.runId = runId;
    this.attempt = attempt;
    this.#bounds = bounds;
    this.#unstored = unstored;
    this.#onAppend = onAppend;
    this.#held = [...stored];
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

  /** Without the events of the end, which count only together with the status that they report. */
  get lastIdBeforeEnd(): number {
    return this.#lastIdBeforeEnd ?? this.lastId;
  }

  get wantsFlush(): boolean {
    return !this.#ending && this.#storedId < this.lastId;
  }

  get unstoredBytes(): number {
    return this.#unstoredBytes;
  }

  /** "At 1 MiB unstored per run or 256 MiB per node the provider's socket is paused." */
  get isFull(): boolean {
    return this.#unstoredBytes >= this.#bounds.unstoredRunBytes || this.#unstored.isFull;
  }

  /** Calls back once when there is room again; never, where the run ends before. */
  onceRoom(goOn: () => void): void {
    this.#unstored.wait(this, goOn);
  }

  #count(bytes: number): void {
    this.#unstoredBytes += bytes;
    this.#unstored.add(bytes);
  }

  /** Null once the end is being made durable, or the log is gone: what comes then has no place any more. */
  append(body: RunEventBody): RunEvent | null {
    if (this.#ending) return null;
    // One object per event, on the road of every token: the body is not copied.
    const event = body as RunEventBody & { id: number };
    event.id = this.#nextId;
    this.#nextId += eventWidth(body);
    this.#held.push(event);
    this.#count(eventSize(event));
    if (this.#unchunkedSince === 0) this.#unchunkedSince = performance.now();
    this.#onAppend(this);
    return event;
  }

  /** Gives ids to events that may be sent only once they are durable, and the chunks that make them so. */
  prepare(bodies: readonly RunEventBody[]): { readonly events: RunEvent[]; readonly chunks: readonly Chunk[] } {
    this.#ending = true;
    this.#lastIdBeforeEnd = this.lastId;
    let id = this.#nextId;
    const events = bodies.map((body) => {
      const event: RunEvent = { ...body, id };
      id += eventWidth(body);
      return event;
    });
    this.#cutChunks(events);
    return { events, chunks: [...this.#unacknowledged] };
  }

  /** Nothing more of this log goes to the store: the run is ended by another road. */
  abandon(): void {
    this.#ending = true;
  }

  /** The prepared events are durable: now they are sent. */
  publish(events: readonly RunEvent[]): void {
    for (const event of events) {
      this.#held.push(event);
      this.#count(eventSize(event));
      this.#nextId = lastFrameId(event) + 1;
    }
    this.acknowledge(this.lastId);
    this.#onAppend(this);
  }

  /** Every chunk that is not known to be stored, the newest ending at the newest event. */
  takeChunks(): readonly Chunk[] {
    this.#cutChunks([]);
    return [...this.#unacknowledged];
  }

  #cutChunks(further: readonly RunEvent[]): void {
    if (this.#unstoredSince === 0) this.#unstoredSince = this.#unchunkedSince;
    this.#unchunkedSince = 0;
    const start = this.#indexAfter(this.#chunkedId);
    const events = further.length === 0 ? this.#held.slice(start) : [...this.#held.slice(start), ...further];
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
    while (this.#unacknowledged[0] !== undefined && this.#unacknowledged[0].lastId <= lastId) {
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
    for (let i = from; i < to; i += 1) bytes += eventSize(this.#held[i] as RunEvent);
    this.#heldStoredBytes += bytes;
    this.#count(-bytes);
    this.#unstored.wake();
    this.#trim();
  }

  /** The log goes: what it has not stored weighs on nobody any more. */
  release(): void {
    this.#count(-this.#unstoredBytes);
    // A flush or step under way may still acknowledge, and a tool still speak: neither counts any more.
    this.#storedId = this.lastId;
    this.#unacknowledged.length = 0;
    this.#unstoredSince = 0;
    this.#ending = true;
    this.#unstored.forget(this);
  }

  /** Drops the oldest events that are stored and delivered until what is held of them is within its bound. */
  #trim(): void {
    if (this.#heldStoredBytes <= this.#bounds.heldBytes) return;
    let count = 0;
    while (count < this.#deliveredCount && this.#heldStoredBytes > this.#bounds.heldBytes) {
      const event = this.#held[count];
      if (event === undefined || lastFrameId(event) > this.#storedId) break;
      this.#heldStoredBytes -= eventSize(event);
      this.#droppedId = lastFrameId(event);
      count += 1;
    }
    if (count === 0) return;
    this.#held = this.#held.slice(count);
    this.#deliveredCount -= count;
  }

  /** Where the first event with a frame after `id` stands among the held ones. */
  #indexAfter(id: number): number {
    let low = 0;
    let high = this.#held.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (lastFrameId(this.#held[middle] as RunEvent) > id) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  heldAfter(cursor: number): { readonly events: readonly RunEvent[]; readonly from: number } | null {
    if (cursor < this.#droppedId) return null;
    return { events: this.#held, from: this.#indexAfter(cursor) };
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

  /** Hands everything appended since the last time to the readers. */
  deliver(): void {
    const from = this.#deliveredCount;
    if (from >= this.#held.length) return;
    this.#deliveredCount = this.#held.length;
    for (const reader of this.#readers) reader.deliver(this.#held, from);
  }

  /** Whether its readers were: nothing more is promised to those who come. */
  get wasCut(): boolean {
    return this.#cut;
  }

  cut(): void {
    this.#cut = true;
    for (const reader of [...this.#readers]) reader.cut();
    this.#readers.clear();
  }
}

/** What was estimated in characters can be larger in bytes: then it is halved until each chunk is within its bound. */
export function encodeWithin(events: readonly RunEvent[], maxBytes: number, encode = encodeChunk): Chunk[] {
  const first = events[0];
  const last = events.at(-1);
  if (first === undefined || last === undefined) return [];
  const data = encode(events);
  if (events.length === 1 || Buffer.byteLength(data) <= maxBytes) {
    return [{ firstId: first.id, lastId: lastFrameId(last), data }];
  }
  const middle = events.length >>> 1;
  return [
    ...encodeWithin(events.slice(0, middle), maxBytes, encode),
    ...encodeWithin(events.slice(middle), maxBytes, encode),
  ];
}
