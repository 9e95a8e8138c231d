import { RepeatedDelta } from './repeated-delta.ts';
import { SseDecoder } from './sse-decoder.ts';

/** Large enough for a delta of 10 MB, and for a last event that repeats the whole answer. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024;
/** A provider whose deltas differ in more than their text is not compared any more after so many of them. */
const MAX_USELESS_DELTAS = 4;

/** Processes one answer's events. Throws a `ProviderFailure` if they are no valid answer. */
export interface EventReader {
  /** True if output was passed on that a second attempt would repeat. */
  readonly hasOutput: boolean;
  /** The text with which the model refused to answer; empty if it did not. */
  readonly refusal: string;
  /** The member of an event that contains a delta's text. */
  readonly deltaKey: string;
  /** The last event's text, if the event did nothing but add it. Otherwise null. */
  readonly plainDelta: string | null;
  /** Returns true after the last event. */
  event(data: string): boolean;
  /** The event before was a plain delta, and the same event arrived again with this text. */
  repeat(text: string): void;
  /** Called if the body ends without a last event. Returns true if the answer is complete. */
  end(): boolean;
}

/** Passes one answer's events on to their reader, while the bytes arrive. */
export class AnswerEvents {
  readonly #reader: EventReader;
  readonly #decoder: SseDecoder;
  /** The last event, if it was a text delta. */
  #delta: RepeatedDelta | null = null;
  #uselessDeltas = 0;
  #decoded = 0;
  #isComplete = false;
  #isStopped = false;

  constructor(reader: EventReader) {
    this.#reader = reader;
    this.#decoder = new SseDecoder((_, data) => this.#event(data), MAX_EVENT_CHARS);
  }

  /** True if an event has arrived. */
  get hasBegun(): boolean {
    return this.#decoded > 0;
  }

  /** Returns true after the last event. Throws what the reader throws, and `SseTooLarge`. */
  push(chunk: Buffer): boolean {
    const wasBetween = this.#decoder.isBetweenEvents;
    const start = wasBetween && this.#delta !== null ? this.#readRepeated(this.#delta, chunk) : 0;
    if (start < chunk.length) this.#decode(start === 0 ? chunk : chunk.subarray(start), wasBetween);
    return this.#isComplete;
  }

  /** The call is over. The rest of the chunk is ignored. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Passes on the events at the start of the chunk that repeat the delta. Returns their end. */
  #readRepeated(delta: RepeatedDelta, chunk: Buffer): number {
    let start = 0;
    while (start < chunk.length && !this.#isStopped) {
      const end = delta.match(chunk, start);
      const text = end === -1 ? null : delta.text(chunk);
      if (text === null) return start;
      this.#reader.repeat(text);
      start = end;
    }
    return start;
  }

  #decode(chunk: Buffer, wasBetween: boolean): void {
    const before = this.#decoded;
    this.#decoder.push(chunk);
    const events = this.#decoded - before;
    if (events === 0) return;
    if (this.#delta?.repeats === 0) this.#uselessDeltas += 1;
    this.#delta = null;
    const { deltaKey, plainDelta } = this.#reader;
    const hasWholeEvent = this.#decoder.isBetweenEvents && (wasBetween || events > 1);
    if (plainDelta === null || !hasWholeEvent || this.#uselessDeltas >= MAX_USELESS_DELTAS) return;
    this.#delta = RepeatedDelta.learn(chunk, deltaKey, plainDelta);
  }

  #event(data: string): void {
    if (this.#isComplete || this.#isStopped) return;
    this.#decoded += 1;
    this.#isComplete = this.#reader.event(data);
  }
}
