import type { ServerResponse } from 'node:http';
import type { RunEvent } from '../domain/events.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import type { EventLog } from '../eventlog/event-log.ts';
import { Follower, type Sink } from '../eventlog/follow.ts';
import type { Encoder } from './encoders/encoder.ts';

export interface StreamBounds {
  readonly pageBytes: number;
  readonly unsentBytes: number;
  readonly drainMs: number;
  readonly heartbeatMs: number;
}

const TICKS_PER_HEARTBEAT = 10;
const COMMENT = ': \n\n';

/** All open streams of this process, with the one timer that they share. */
export class Streams implements Disposable {
  readonly bounds: StreamBounds;
  readonly waitAt: WaitAt | undefined;
  readonly #open = new Set<SseStream>();
  readonly #timer: NodeJS.Timeout;
  /** A coarse clock: reading a real one for every write would cost more than it tells. */
  tick = 0;

  constructor(bounds: StreamBounds, waitAt: WaitAt | undefined) {
    this.bounds = bounds;
    this.waitAt = waitAt;
    this.#timer = setInterval(() => {
      this.tick += 1;
      for (const stream of this.#open) stream.onTick();
    }, bounds.heartbeatMs / TICKS_PER_HEARTBEAT);
    this.#timer.unref();
  }

  get drainTicks(): number {
    return Math.ceil((this.bounds.drainMs / this.bounds.heartbeatMs) * TICKS_PER_HEARTBEAT);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Streams with more unsent than they may have. */
  get full(): number {
    let count = 0;
    for (const stream of this.#open) if (stream.full) count += 1;
    return count;
  }

  add(stream: SseStream): void {
    this.#open.add(stream);
  }

  delete(stream: SseStream): void {
    this.#open.delete(stream);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const stream of [...this.#open]) stream.cut();
  }
}

/** One response that follows one run. */
export class SseStream implements Sink {
  readonly #response: ServerResponse;
  readonly #encoder: Encoder;
  readonly #streams: Streams;
  readonly #follower: Follower;
  #full = false;
  #lastWriteTick = 0;
  #fullSinceTick = 0;

  constructor(
    response: ServerResponse,
    encoder: Encoder,
    streams: Streams,
    eventLog: EventLog,
    runId: string,
    after: number,
  ) {
    this.#response = response;
    this.#encoder = encoder;
    this.#streams = streams;
    this.#follower = new Follower(eventLog, runId, after, this);
    response.on('drain', this.#onDrain);
    response.on('close', () => {
      streams.delete(this);
      this.#follower.close();
    });
    // A broken connection is an end like any other; `close` follows.
    response.on('error', () => {});
  }

  get full(): boolean {
    return this.#full;
  }

  /** The head and a first comment leave at once, with whatever the log holds already. */
  start(headers: Readonly<Record<string, string>>): void {
    const { waitAt } = this.#streams;
    waitAt?.('header.before');
    this.#response.writeHead(200, { ...headers, ...SSE_HEADERS });
    if (waitAt !== undefined) {
      this.#response.flushHeaders();
      waitAt('header.after');
      waitAt('first-byte.before');
    }
    this.#streams.add(this);
    this.#write(COMMENT, waitAt === undefined ? undefined : () => waitAt('first-byte.after'));
    this.#follower.start();
  }

  take(events: readonly RunEvent[], from: number, cursor: number): number {
    const { bounds, waitAt } = this.#streams;
    let next = from;
    while (next < events.length && !this.#full) {
      const event = events[next] as RunEvent;
      const staged = waitAt !== undefined && (event.type === 'messages' || event.type === 'end');
      const shown = waitAt === undefined ? events : events.slice(next, next + 1);
      if (staged) waitAt(event.type === 'end' ? 'end-frame.before' : 'messages.before');
      const page = this.#encoder.page(shown, waitAt === undefined ? next : 0, cursor, bounds.pageBytes);
      const after = event.type === 'end' ? 'end-frame.after' : 'messages.after';
      this.#write(page.data, staged ? () => waitAt(after) : undefined);
      next = waitAt === undefined ? page.next : next + 1;
    }
    return next;
  }

  finish(): void {
    // No `drain` comes after the end: from here on the rest has as long to leave as any page, and no comment follows.
    this.#full = true;
    this.#fullSinceTick = this.#streams.tick;
    this.#response.end();
  }

  cut(): void {
    this.#response.destroy();
  }

  onTick(): void {
    const { tick, drainTicks } = this.#streams;
    if (this.#full) {
      if (tick - this.#fullSinceTick >= drainTicks) this.cut();
      return;
    }
    // One tick early, so that the silence never lasts longer than promised.
    if (tick - this.#lastWriteTick >= TICKS_PER_HEARTBEAT - 1) this.#write(COMMENT, undefined);
  }

  #write(data: string | Buffer, after: (() => void) | undefined): void {
    this.#lastWriteTick = this.#streams.tick;
    if (after === undefined) this.#response.write(data);
    else this.#response.write(data, after);
    if (this.#response.writableLength > this.#streams.bounds.unsentBytes) {
      this.#full = true;
      this.#fullSinceTick = this.#streams.tick;
    }
  }

  #onDrain = (): void => {
    if (!this.#full) return;
    this.#full = false;
    this.#follower.resume();
  };
}

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // nginx as Debian ships it holds the whole stream back without `X-Accel-Buffering: no`.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
