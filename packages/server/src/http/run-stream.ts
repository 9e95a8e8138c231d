import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RunEvent } from '../domain/events.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import type { EventLog } from '../eventlog/event-log.ts';
import { Follower, type Sink } from '../eventlog/follow.ts';
import { ChunkedBody } from './chunked-body.ts';
import type { Encoder } from './encoders/encoder.ts';

export interface StreamBounds {
  readonly pageBytes: number;
  readonly unsentBytes: number;
  readonly slowReaderMs: number;
  readonly heartbeatMs: number;
}

/** Who wants to know which runs are read. */
export interface Readers {
  came(runId: string): void;
  left(runId: string): void;
}

const TICKS_PER_HEARTBEAT = 10;
const ignore = () => {};

/** All open streams of this process, with the one timer that they share. */
export class Streams implements Disposable {
  readonly bounds: StreamBounds;
  readonly waitAt: WaitAt | undefined;
  readonly #readers: Readers;
  readonly #open = new Set<RunStream>();
  readonly #timer: NodeJS.Timeout;
  /** A coarse clock: reading a real one for every write would cost more than it tells. */
  tick = 0;

  /** Whether no event may leave for now, because nobody knows whether it is still this node's to tell. */
  readonly holds: () => boolean;

  constructor(bounds: StreamBounds, readers: Readers, waitAt: WaitAt | undefined, holds: () => boolean) {
    this.bounds = bounds;
    this.#readers = readers;
    this.waitAt = waitAt;
    this.holds = holds;
    this.#timer = setInterval(() => {
      this.tick += 1;
      for (const stream of this.#open) stream.onTick();
    }, bounds.heartbeatMs / TICKS_PER_HEARTBEAT);
    this.#timer.unref();
  }

  get drainTicks(): number {
    return Math.ceil((this.bounds.slowReaderMs / this.bounds.heartbeatMs) * TICKS_PER_HEARTBEAT);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Streams with more unsent than they may have. */
  get full(): number {
    let count = 0;
    for (const stream of this.#open) if (stream.isBehind) count += 1;
    return count;
  }

  add(stream: RunStream): void {
    this.#open.add(stream);
    this.#readers.came(stream.runId);
  }

  delete(stream: RunStream): void {
    if (this.#open.delete(stream)) this.#readers.left(stream.runId);
  }

  /** Events may be sent again. */
  goOn(): void {
    for (const stream of this.#open) stream.goOn();
  }

  /** Cuts the streams of these runs; their readers may ask again. */
  cutRuns(runIds: ReadonlySet<string>): void {
    for (const stream of [...this.#open]) if (runIds.has(stream.runId)) stream.cut();
  }

  cutKeys(keyIds: ReadonlySet<string>): void {
    for (const stream of [...this.#open]) if (stream.keyId !== null && keyIds.has(stream.keyId)) stream.cut();
  }

  keyIds(): string[] {
    const keyIds = new Set<string>();
    for (const { keyId } of this.#open) if (keyId !== null) keyIds.add(keyId);
    return [...keyIds];
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const stream of [...this.#open]) stream.cut();
  }
}

/**
 * What no kernel has taken yet, as a number that changes with every byte that one takes. `writableLength` alone holds a
 * frame in it until its last byte is gone, and `bytesWritten` counts what is only queued; what is left of the write
 * under way is known to the handle, by which Node's own socket timeouts see progress too.
 */
function unsentBytes(response: ServerResponse): number {
  const { _handle: handle } = (response.socket ?? {}) as { _handle?: { readonly writeQueueSize: number } | null };
  return response.writableLength + (handle?.writeQueueSize ?? 0);
}

/** What a stream reads, and with which key. */
export interface StreamSource {
  readonly runId: string;
  /** The id of the last event that the reader has; 0 if it reads from the start. */
  readonly after: number;
  /** The key of the request; null if it is `RUNWIRE_API_KEY`, which cannot be revoked while the server runs. */
  readonly keyId: string | null;
}

/** One response that follows one run, in one framing. It has no socket while an earlier answer uses the connection. */
export class RunStream implements Sink {
  readonly runId: string;
  readonly keyId: string | null;
  readonly #response: ServerResponse;
  readonly #body: ChunkedBody;
  readonly #encoder: Encoder;
  readonly #streams: Streams;
  readonly #follower: Follower;
  /** Also while it breaks off: nothing more is taken then. */
  #full = false;
  #breaksOff = false;
  #lastWriteTick = 0;
  /** When the reader last took bytes, and how many were unsent then; null if that was not checked since it is full. */
  #progressTick = 0;
  #unsentBytes: number | null = null;

  constructor(
    response: ServerResponse,
    encoder: Encoder,
    streams: Streams,
    eventLog: EventLog,
    { runId, after, keyId }: StreamSource,
  ) {
    this.runId = runId;
    this.keyId = keyId;
    this.#response = response;
    this.#body = new ChunkedBody(response);
    this.#encoder = encoder;
    this.#streams = streams;
    this.#follower = new Follower(eventLog, runId, after, this);
    response.on('drain', this.#onDrain);
    response.on('close', () => {
      streams.delete(this);
      this.#follower.close();
    });
    // A broken connection is an end like any other; `close` follows.
    response.on('error', ignore);
  }

  /** True while the reader is slower than the run. */
  get isBehind(): boolean {
    return this.#full;
  }

  get full(): boolean {
    return this.#full || this.#streams.holds();
  }

  goOn(): void {
    if (!this.#full) this.#follower.resume();
  }

  /** Sends the head immediately, with a first comment if the framing has comments, and the events that the log holds. */
  start(headers: Readonly<Record<string, string>>): void {
    // The caller left before its answer began: `close` was emitted already.
    if (this.#response.destroyed) return;
    const { waitAt } = this.#streams;
    const { heartbeat } = this.#encoder;
    waitAt?.('header.before');
    // The headers that hooks set are not sent after a hijack.
    this.#response.writeHead(200, { 'x-content-type-options': 'nosniff', ...headers, ...this.#encoder.headers });
    if (waitAt !== undefined || heartbeat === null) this.#response.flushHeaders();
    waitAt?.('header.after');
    this.#streams.add(this);
    if (heartbeat !== null) {
      waitAt?.('first-byte.before');
      this.#write(heartbeat, waitAt === undefined ? undefined : () => waitAt('first-byte.after'));
    }
    this.#follower.start();
  }

  take(events: readonly RunEvent[], from: number, cursor: number): number {
    const { bounds, waitAt } = this.#streams;
    let next = from;
    let last = cursor;
    while (next < events.length && !this.full) {
      const event = events[next] as RunEvent;
      const staged = waitAt !== undefined && (event.type === 'messages' || event.type === 'end');
      // Where it is staged each event leaves by itself.
      const shown = waitAt === undefined ? events : [event];
      if (staged) waitAt(event.type === 'end' ? 'end-frame.before' : 'messages.before');
      if (staged && this.full) break;
      const page = this.#encoder.page(shown, waitAt === undefined ? next : 0, last, bounds.pageBytes);
      const after = event.type === 'end' ? 'end-frame.after' : 'messages.after';
      if (waitAt === undefined && !page.breaksOff && events[page.next - 1]?.type === 'end') this.#body.holdForEnd();
      if (page.data.length > 0) this.#write(page.data, staged ? () => waitAt(after) : undefined);
      if (page.breaksOff) this.#breakOff();
      next = waitAt === undefined ? page.next : next + page.next;
      last = page.cursor;
    }
    return last;
  }

  finish(): void {
    if (this.#breaksOff) return;
    // No `drain` comes after the end: the rest has to leave as any page has, and no comment follows.
    this.#fill();
    this.#response.end();
  }

  cut(): void {
    const { socket, req } = this.#response;
    if (socket === null) {
      this.#breaksOff = true;
      this.#fill();
      this.#response.once('socket', () => this.cut());
      return;
    }
    // To HTTP/1.0, which has no chunks, a plain close is the end of a whole answer; only a reset is not.
    if (req.httpVersionMinor === 0) socket.resetAndDestroy();
    this.#response.destroy();
  }

  /** What was written still leaves; the final chunk does not. */
  #breakOff(): void {
    this.#breaksOff = true;
    this.#fill();
    const { socket, req } = this.#response;
    // What was written in this turn is still held by the response, and reaches the socket at the turn's end.
    const end = (by: Socket) =>
      setImmediate(() => {
        if (req.httpVersionMinor === 0) by.write('', () => this.cut());
        else by.destroySoon();
      });
    if (socket === null) this.#response.once('socket', end);
    else end(socket);
  }

  onTick(): void {
    const { tick } = this.#streams;
    if (this.#full) {
      this.#watchProgress();
      return;
    }
    const { heartbeat } = this.#encoder;
    // One tick early, so that the silence never lasts longer than promised.
    if (heartbeat !== null && tick - this.#lastWriteTick >= TICKS_PER_HEARTBEAT - 1) this.#write(heartbeat, undefined);
  }

  #write(data: string | Buffer, after: (() => void) | undefined): void {
    this.#lastWriteTick = this.#streams.tick;
    this.#body.write(data, after);
    if (this.#response.writableLength > this.#streams.bounds.unsentBytes) this.#fill();
  }

  #fill(): void {
    this.#full = true;
    this.#progressTick = this.#streams.tick;
    this.#unsentBytes = null;
  }

  /** Nothing is written while it is full: whatever changes was taken. One large frame may take as long as it needs. */
  #watchProgress(): void {
    const { tick, drainTicks } = this.#streams;
    const unsent = unsentBytes(this.#response);
    // Its reader is still taking the answer before it.
    if (this.#response.socket === null) this.#progressTick = tick;
    if (this.#unsentBytes !== null && unsent !== this.#unsentBytes) this.#progressTick = tick;
    this.#unsentBytes = unsent;
    if (tick - this.#progressTick >= drainTicks) this.cut();
  }

  #onDrain = (): void => {
    if (!this.#full || this.#breaksOff) return;
    this.#full = false;
    this.#follower.resume();
  };
}
