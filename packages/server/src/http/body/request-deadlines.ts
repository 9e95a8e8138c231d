import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface RequestTimes {
  /** How long a request may take to arrive, headers and body. */
  readonly requestMs: number;
  /** How long it may be without a byte. */
  readonly requestIdleMs: number;
}

const exempted = new WeakSet<IncomingMessage>();

/** Exempts a request whose body has its own limits: an upload. */
export function exemptFromDeadlines(request: IncomingMessage): void {
  exempted.add(request);
}

interface Arrival {
  /** The newest request on the connection and its answer; null if its headers have not arrived yet. */
  current: { readonly request: IncomingMessage; readonly answer: ServerResponse } | null;
  /** When the request that is arriving began; null if none is. */
  startedAt: number | null;
  /** `socket.bytesRead` when it was last looked at, and when it last changed. */
  bytes: number;
  movedAt: number;
}

/**
 * Cuts requests that arrive too slowly. One timer looks at all connections, ten times per idle limit: a limit costs
 * nothing per chunk, and a request is cut up to a tenth of the idle limit late, never early.
 *
 *   headers arrive ──▶ body arrives ──▶ whole
 *         └──────────────────┴────▶ expired: `timeout` is emitted on the request if its body is being read (the reader
 *                                   answers 408); otherwise `onExpired` answers on the socket or closes it
 *
 * Node's own `requestTimeout` is not enough: it has no idle limit, and it would cut uploads, which have their own
 * limits. Node's `headersTimeout` is set too, for headers that began in the same packet in which the last request ended.
 */
export class RequestDeadlines implements Disposable {
  readonly #times: RequestTimes;
  readonly #onExpired: (socket: Socket) => void;
  readonly #arrivals = new Map<Socket, Arrival>();
  readonly #timer: NodeJS.Timeout;

  constructor(server: Server, times: RequestTimes, onExpired: (socket: Socket) => void) {
    this.#times = times;
    this.#onExpired = onExpired;
    server.on('connection', (socket: Socket) => {
      this.#arrivals.set(socket, { current: null, startedAt: null, bytes: 0, movedAt: performance.now() });
      socket.once('close', () => this.#arrivals.delete(socket));
    });
    server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
      const arrival = this.#arrivals.get(request.socket);
      if (arrival === undefined) return;
      const now = performance.now();
      // `startedAt` is when its headers began, unless `current` is still an earlier request: then it belongs to that one.
      if (arrival.current !== null) arrival.startedAt = null;
      arrival.startedAt ??= now;
      arrival.movedAt = now;
      arrival.current = { request, answer };
      // Its headers contain the caller's key. An idle connection must not keep them until the next tick of the timer.
      answer.once('close', () => {
        if (arrival.current?.answer === answer && request.complete) settle(request.socket, arrival);
      });
    });
    this.#timer = setInterval(() => this.#look(performance.now()), times.requestIdleMs / 10);
    this.#timer.unref();
  }

  #look(now: number): void {
    for (const [socket, arrival] of this.#arrivals) {
      if (!this.#isLate(socket, arrival, now)) continue;
      this.#arrivals.delete(socket);
      const request = arrival.current?.request;
      if (request === undefined || !request.emit('timeout')) this.#onExpired(socket);
    }
  }

  #isLate(socket: Socket, arrival: Arrival, now: number): boolean {
    const { current } = arrival;
    if (current?.request.complete === true) {
      settle(socket, arrival);
      // While the answer is being sent, only the next request can arrive, and Node does not read it to its end.
      if (!current.answer.writableFinished && !current.answer.destroyed) arrival.current = current;
      return false;
    }
    if (current !== null && exempted.has(current.request)) return false;
    if (socket.bytesRead !== arrival.bytes) {
      arrival.bytes = socket.bytesRead;
      arrival.movedAt = now;
      arrival.startedAt ??= now;
    }
    if (arrival.startedAt === null) return false;
    const { requestMs, requestIdleMs } = this.#times;
    return now - arrival.movedAt >= requestIdleMs || now - arrival.startedAt >= requestMs;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Called when the newest request has arrived completely. */
function settle(socket: Socket, arrival: Arrival): void {
  arrival.startedAt = null;
  arrival.bytes = socket.bytesRead;
  arrival.current = null;
}
