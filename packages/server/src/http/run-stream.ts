import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { includesRole, type Role } from '@runwire/contract';
import { type Cell, CellSet } from '@runwire/lib/cells.ts';
import type { PageTurns } from '@runwire/lib/page-turns.ts';
import type { RunId } from '../domain/ids.ts';
import type { RunEvent } from '../domain/run/events.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import type { EventLog } from '../eventlog/event-log.ts';
import { Follower, type Sink } from '../eventlog/follow.ts';
import { ChunkedBody } from './chunked-body.ts';
import type { Encoder } from './encoders/encoder.ts';
import type { PageBytes } from './encoders/page-bytes.ts';
import type { StreamSource } from './stream-source.ts';

export interface StreamBounds {
  readonly pageBytes: number;
  readonly unsentBytes: number;
  readonly slowReaderMs: number;
  readonly heartbeatMs: number;
}

/** Is informed about the runs that have readers. */
export interface Readers {
  readerAttached(runId: RunId): void;
  readerLeft(runId: RunId): void;
}

export interface StreamsDeps {
  readonly bounds: StreamBounds;
  readonly turns: PageTurns;
  readonly readers: Readers;
  readonly waitAt: WaitAt | undefined;
  /** True while no event may be sent. */
  readonly holds: () => boolean;
  /** Adds the wait points of tests to an encoder. */
  readonly stage: (encoder: Encoder) => Encoder;
}

/** A caller that follows a run. */
export interface OpenReader extends Pick<StreamSource, 'runId' | 'keyId' | 'role'> {
  /** True while the reader is slower than the run. */
  readonly isBehind: boolean;
  /** Used by `Streams`. Null until the reader is added. */
  cell: Cell<OpenReader> | null;
  /** Called ten times per heartbeat. */
  onTick(): void;
  /** Called when events may be sent again. */
  resume(): void;
  /** Closes the connection. */
  cut(): void;
}

const TICKS_PER_HEARTBEAT = 10;
const ignore = () => {};

/** All open streams of this process and the timer that they share. */
export class Streams implements Disposable {
  readonly bounds: StreamBounds;
  readonly turns: PageTurns;
  readonly waitAt: WaitAt | undefined;
  readonly #readers: Readers;
  readonly #open = new CellSet<OpenReader>();
  readonly #timer: NodeJS.Timeout;
  /** A coarse clock: reading the real clock for every write would cost more than it is worth. */
  tick = 0;

  /** True while no event may be sent, because this node does not know if it still owns its runs. */
  readonly holds: () => boolean;

  readonly stage: StreamsDeps['stage'];

  constructor({ bounds, turns, readers, waitAt, holds, stage }: StreamsDeps) {
    this.bounds = bounds;
    this.turns = turns;
    this.#readers = readers;
    this.waitAt = waitAt;
    this.holds = holds;
    this.stage = stage;
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

  /** Number of streams with more unsent bytes than they may have. */
  get full(): number {
    let count = 0;
    for (const stream of this.#open) if (stream.isBehind) count += 1;
    return count;
  }

  add(stream: OpenReader): void {
    stream.cell = this.#open.add(stream);
    this.#readers.readerAttached(stream.runId);
  }

  delete(stream: OpenReader): void {
    if (stream.cell !== null && this.#open.delete(stream.cell)) this.#readers.readerLeft(stream.runId);
  }

  /** Called when events may be sent again. */
  resume(): void {
    for (const stream of this.#open) stream.resume();
  }

  /** Closes the streams of these runs. Their readers may reconnect. */
  cutRuns(runIds: ReadonlySet<RunId>): void {
    for (const stream of [...this.#open]) if (runIds.has(stream.runId)) stream.cut();
  }

  /** Closes the streams of these keys and sessions, except if `roles` has the role that the stream needs. */
  cutKeys(keyIds: ReadonlySet<string>, roles: ReadonlyMap<string, Role>): void {
    for (const stream of [...this.#open]) {
      if (stream.keyId === null || !keyIds.has(stream.keyId)) continue;
      const role = roles.get(stream.keyId);
      if (role === undefined || !includesRole(role, stream.role)) stream.cut();
    }
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
 * Returns the number of bytes that the kernel has not accepted yet. It changes with every accepted byte.
 * `writableLength` counts a frame until its last byte is accepted, and `bytesWritten` counts queued bytes. The handle
 * knows the rest of the current write; Node's socket timeouts use it too.
 */
function unsentBytes(response: ServerResponse): number {
  const { _handle: handle } = (response.socket ?? {}) as { _handle?: { readonly writeQueueSize: number } | null };
  return response.writableLength + (handle?.writeQueueSize ?? 0);
}

/** One response that follows one run, in one framing. It has no socket while an earlier answer uses the connection. */
export class RunStream implements Sink, OpenReader {
  readonly runId: RunId;
  readonly keyId: string | null;
  readonly role: Role;
  readonly #response: ServerResponse;
  readonly #body: ChunkedBody;
  readonly #encoder: Encoder;
  readonly #streams: Streams;
  readonly #follower: Follower;
  cell: Cell<OpenReader> | null = null;
  /** Also true while the stream breaks off: it reads no more events then. */
  #full = false;
  #breaksOff = false;
  #lastWriteTick = 0;
  #startTick = 0;
  /**
   * When the reader last read bytes, and how many were unsent then. Null if that was not checked since the stream is
   * full.
   */
  #progressTick = 0;
  #unsentBytes: number | null = null;

  constructor(response: ServerResponse, encoder: Encoder, streams: Streams, eventLog: EventLog, source: StreamSource) {
    this.runId = source.runId;
    this.keyId = source.keyId;
    this.role = source.role;
    this.#response = response;
    this.#body = new ChunkedBody(response);
    this.#encoder = streams.stage(encoder);
    this.#streams = streams;
    this.#follower = new Follower(eventLog, streams.turns, source, this);
    response.on('drain', this.#onDrain);
    response.on('close', () => {
      streams.delete(this);
      this.#follower.close();
    });
    // A broken connection is a normal end; `close` follows.
    response.on('error', ignore);
  }

  /** True while the reader is slower than the run. */
  get isBehind(): boolean {
    return this.#full;
  }

  get full(): boolean {
    return this.#full || this.#streams.holds();
  }

  resume(): void {
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
    this.#startTick = this.#streams.tick;
    if (heartbeat !== null) {
      waitAt?.('first-byte.before');
      this.#write(heartbeat, waitAt === undefined ? undefined : () => waitAt('first-byte.after'));
    }
    this.#follower.start();
  }

  take(events: readonly RunEvent[], from: number, cursor: number): number {
    const { bounds } = this.#streams;
    let next = from;
    let last = cursor;
    while (next < events.length && !this.full) {
      const page = this.#encoder.page(events, next, last, bounds.pageBytes);
      const isLast = page.onSent === undefined && !page.breaksOff && events[page.next - 1]?.type === 'end';
      if (page.data.length > 0) this.#write(page.data, page.onSent, isLast);
      if (page.breaksOff) this.#breakOff();
      next = page.next;
      if (page.ends === true) {
        this.#follower.close();
        this.finish();
        return page.cursor;
      }
      last = page.cursor;
    }
    return last;
  }

  finish(): void {
    if (this.#breaksOff) return;
    // `drain` is not emitted after the end. The rest must leave like any page, and no comment may follow.
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
    // HTTP/1.0 has no chunks, so a plain close would look like the end of a complete answer. A reset does not.
    if (req.httpVersionMinor === 0) socket.resetAndDestroy();
    this.#response.destroy();
  }

  /** Bytes that were written still leave; the final chunk does not. */
  #breakOff(): void {
    this.#breaksOff = true;
    this.#fill();
    const { socket, req } = this.#response;
    // Bytes that were written in this turn are still in the response. They reach the socket at the end of the turn.
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
    const { heartbeat, lastHeartbeat } = this.#encoder;
    if (lastHeartbeat !== undefined && tick - this.#startTick >= lastHeartbeat.count * TICKS_PER_HEARTBEAT) {
      this.#follower.close();
      this.#write(lastHeartbeat.data(), undefined, true);
      this.finish();
      return;
    }
    // One tick early, so that the silence never lasts longer than promised.
    if (heartbeat !== null && tick - this.#lastWriteTick >= TICKS_PER_HEARTBEAT - 1) this.#write(heartbeat, undefined);
  }

  #write(data: string | PageBytes, after: (() => void) | undefined, isLast = false): void {
    this.#lastWriteTick = this.#streams.tick;
    this.#body.write(data, after, isLast);
    if (this.#response.writableLength > this.#streams.bounds.unsentBytes) this.#fill();
  }

  #fill(): void {
    this.#full = true;
    this.#progressTick = this.#streams.tick;
    this.#unsentBytes = null;
  }

  /**
   * Nothing is written while the stream is full, so every change means that the reader has read bytes. One large frame
   * may take as long as it needs.
   */
  #watchProgress(): void {
    const { tick, drainTicks } = this.#streams;
    const unsent = unsentBytes(this.#response);
    // The reader is still reading the previous answer on this connection.
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
