import { CursorTooOldError, type Frame, type RunHandle } from '@runwire/client';
import { api } from '../../app/api.ts';
import { connection } from '../../app/connection.ts';
import { isConnectionLost } from '../../app/errors.ts';
import { noteError } from '../../app/query-client.ts';

/** What is known of the events of a run. */
export interface LogState {
  /** Events that were read. */
  readonly total: number;
  /** Events that contain the filter's text. */
  readonly matching: number;
  readonly isReading: boolean;
  readonly error: unknown;
}

/** No task may block the page for long, so work pauses after this time. */
const SLICE_MS = 10;
/** How often the page shows new events. */
const NOTIFY_MS = 100;
const EMPTY: LogState = { total: 0, matching: 0, isReading: true, error: null };

const pause = () => new Promise((resolve) => setTimeout(resolve));

/** Reads a run once's events from its start, and follows them while the run is active. */
export class EventLog {
  readonly #handle: RunHandle;
  readonly #listeners = new Set<() => void>();
  #reading: AbortController | null = null;
  #frames: Frame[] = [];
  #filter = '';
  /** Indexes of the events that contain the filter. */
  #matches: number[] = [];
  #nextToMatch = 0;
  #isMatching = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #state = EMPTY;

  constructor(handle: RunHandle) {
    this.#handle = handle;
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): LogState => this.#state;

  get frames(): readonly Frame[] {
    return this.#frames;
  }

  /** The event in this row of the filtered list. */
  frameAt(row: number): Frame | undefined {
    return this.#frames[this.#filter === '' ? row : (this.#matches[row] ?? -1)];
  }

  /** The event's row in the filtered list. If it is not there: of the event that follows it. */
  toRow(id: number): number {
    let [first, end] = [0, this.#state.matching];
    while (first < end) {
      const middle = (first + end) >> 1;
      if ((this.frameAt(middle)?.id ?? id) < id) first = middle + 1;
      else end = middle;
    }
    return first;
  }

  start(): void {
    this.stop();
    const reading = new AbortController();
    this.#reading = reading;
    void this.#read(reading.signal, 0);
  }

  /** Stops the reading, and releases all events. */
  stop(): void {
    this.#reading?.abort();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#frames = [];
    this.#resetMatches();
    this.#state = EMPTY;
  }

  setFilter(text: string): void {
    const filter = text.toLowerCase();
    if (filter === this.#filter) return;
    this.#filter = filter;
    this.#resetMatches();
    this.#publish();
    void this.#match();
  }

  async #read(signal: AbortSignal, after: number): Promise<void> {
    try {
      let sliceEnd = performance.now() + SLICE_MS;
      for await (const frame of api().attach(this.#handle, { signal, after }).frames()) {
        if (signal.aborted) return;
        this.#frames.push(frame);
        this.#publishSoon();
        if (performance.now() < sliceEnd) continue;
        await pause();
        if (signal.aborted) return;
        sliceEnd = performance.now() + SLICE_MS;
      }
      this.#end(signal, null);
    } catch (error) {
      if (signal.aborted) return;
      // The events were compacted while they were read: the new ones are read from their start.
      if (error instanceof CursorTooOldError) this.start();
      else {
        noteError(error);
        if (isConnectionLost(error)) this.#continueOnRecovery(signal);
        else this.#end(signal, error);
      }
    }
  }

  /** Reads what follows the last event when the server answers again. */
  #continueOnRecovery(signal: AbortSignal): void {
    const unsubscribe = connection.subscribe(() => {
      if (connection.isLost()) return;
      unsubscribe();
      void this.#read(signal, this.#frames.at(-1)?.id ?? 0);
    });
    signal.addEventListener('abort', () => unsubscribe(), { once: true });
  }

  #end(signal: AbortSignal, error: unknown): void {
    if (signal.aborted) return;
    this.#state = { ...this.#state, isReading: false, error };
    this.#publish();
    void this.#match();
  }

  #publishSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#publish();
      void this.#match();
    }, NOTIFY_MS);
  }

  #publish(): void {
    const total = this.#frames.length;
    this.#state = { ...this.#state, total, matching: this.#filter === '' ? total : this.#matches.length };
    for (const listener of this.#listeners) listener();
  }

  #resetMatches(): void {
    this.#matches = [];
    this.#nextToMatch = 0;
  }

  /** Looks for the filter in the events that were not searched yet. */
  async #match(): Promise<void> {
    if (this.#isMatching || this.#filter === '') return;
    this.#isMatching = true;
    let sliceEnd = performance.now() + SLICE_MS;
    while (this.#nextToMatch < this.#frames.length) {
      const { event, data } = this.#frames[this.#nextToMatch] as Frame;
      if (data.toLowerCase().includes(this.#filter) || event?.includes(this.#filter)) {
        this.#matches.push(this.#nextToMatch);
      }
      this.#nextToMatch += 1;
      if (performance.now() < sliceEnd) continue;
      this.#publish();
      await pause();
      sliceEnd = performance.now() + SLICE_MS;
    }
    this.#isMatching = false;
    this.#publish();
  }
}
