import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Order, readOrder, token } from './model.ts';
import { CHAT, MESSAGES, RESPONSES, type Wire } from './provider-wires.ts';

/*
 * The scripted provider, a separate process with the Responses protocol and Chat Completions of OpenAI and the
 * Messages protocol of Anthropic. It sends what the last message orders: BURST events in one write, each write in its own turn or every EVERY_MS. Both
 * servers call it over loopback.
 */

class Answer {
  readonly #order: Order;
  readonly #wire: Wire;
  readonly #response: ServerResponse;
  #sent = 0;
  #bytes: string;

  constructor(order: Order, wire: Wire, response: ServerResponse) {
    this.#order = order;
    this.#wire = wire;
    this.#bytes = wire.start;
    this.#response = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
  }

  /** Sends the next tokens. Returns false after the last turn. */
  turn(): boolean {
    const { tokens, burst } = this.#order;
    if (this.#response.destroyed) return false;
    const until = Math.min(tokens, this.#sent + burst);
    for (; this.#sent < until; this.#sent += 1) {
      this.#bytes += this.#wire.delta(this.#sent, JSON.stringify(token(this.#order, this.#sent)));
    }
    if (this.#sent < tokens) {
      // Writes the chunk in one piece. `response.write` would write three pieces, and the provider must cost little.
      this.#response.socket?.write(`${this.#bytes.length.toString(16)}\r\n${this.#bytes}\r\n`, 'latin1');
      this.#bytes = '';
      return true;
    }
    this.#response.end(this.#bytes + this.#wire.end(tokens));
    return false;
  }
}

/** Answers with the same interval share a timer that checks every millisecond whose turn it is. */
class Pace {
  readonly #slots: Set<Answer>[];
  readonly #start = performance.now();
  #done = 0;

  constructor(everyMs: number) {
    this.#slots = Array.from({ length: everyMs }, () => new Set());
    setInterval(() => this.#tick(), 1).unref();
  }

  add(answer: Answer): void {
    // Uses the previous slot, so its next turn is a whole period later.
    this.#slots[(this.#done + this.#slots.length - 1) % this.#slots.length]?.add(answer);
  }

  #tick(): void {
    const due = Math.floor(performance.now() - this.#start);
    for (; this.#done < due; this.#done += 1) {
      const slot = this.#slots[this.#done % this.#slots.length] as Set<Answer>;
      for (const answer of slot) if (!answer.turn()) slot.delete(answer);
    }
  }
}

const paces = new Map<number, Pace>();
const MAX_PACE_MS = 1000;

function begin(order: Order, wire: Wire, response: ServerResponse): void {
  const answer = new Answer(order, wire, response);
  if (order.everyMs === 0) {
    const turn = () => {
      if (answer.turn()) setImmediate(turn);
    };
    setImmediate(turn);
    return;
  }
  if (order.everyMs > MAX_PACE_MS) {
    const turn = () => {
      if (answer.turn()) setTimeout(turn, order.everyMs).unref();
    };
    turn();
    return;
  }
  const pace = paces.get(order.everyMs) ?? new Pace(order.everyMs);
  paces.set(order.everyMs, pace);
  if (answer.turn()) pace.add(answer);
}

const wires: readonly (readonly [path: string, Wire])[] = [
  ['/messages', MESSAGES],
  ['/chat/completions', CHAT],
];

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => {
    body += part;
  });
  request.on('end', () => {
    const wire = wires.find(([path]) => request.url?.endsWith(path))?.[1] ?? RESPONSES;
    const { text, called } = wire.read(body);
    const order = readOrder(text);
    if (called >= order.calls) begin(order, wire, response);
    else {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(wire.call(called + 1));
    }
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096, () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
