import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NOTE, type Order, readOrder, token } from './model.ts';

/*
 * The scripted provider, a separate process with the Responses protocol of OpenAI. It sends what the last message
 * orders: BURST events in one write, each write in its own turn or every EVERY_MS. Both servers call it over loopback.
 */

const event = (data: Readonly<Record<string, unknown>>) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const created = event({
  type: 'response.created',
  sequence_number: 0,
  response: { id: 'resp_1', status: 'in_progress' },
});
const DELTA = 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":';
const PLACE = ',"item_id":"msg_68e9f0a1b2c3d4e5f60718293a4b5c6d","output_index":0,"content_index":0,"delta":';

class Answer {
  readonly #order: Order;
  readonly #response: ServerResponse;
  #said = 0;
  #bytes = created;

  constructor(order: Order, response: ServerResponse) {
    this.#order = order;
    this.#response = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
  }

  /** Sends the next tokens. Returns false after the last turn. */
  turn(): boolean {
    const { tokens, burst } = this.#order;
    if (this.#response.destroyed) return false;
    const until = Math.min(tokens, this.#said + burst);
    for (; this.#said < until; this.#said += 1) {
      const delta = JSON.stringify(token(this.#order, this.#said));
      this.#bytes += `${DELTA}${this.#said + 1}${PLACE}${delta},"logprobs":[]}\n\n`;
    }
    if (this.#said < tokens) {
      // Writes the chunk in one piece. `response.write` would write three pieces, and the provider must cost little.
      this.#response.socket?.write(`${this.#bytes.length.toString(16)}\r\n${this.#bytes}\r\n`, 'latin1');
      this.#bytes = '';
      return true;
    }
    const usage = { input_tokens: 20, output_tokens: tokens, total_tokens: tokens + 20 };
    const response = { id: 'resp_1', output: [], usage };
    this.#response.end(this.#bytes + event({ type: 'response.completed', sequence_number: this.#said + 1, response }));
    return false;
  }
}

/** An answer that calls the tool. */
function call(number: number, response: ServerResponse): void {
  const item = { type: 'function_call', id: `fc_${number}`, call_id: `call_${number}`, name: NOTE.name };
  const place = { item_id: item.id, output_index: 0 };
  const whole = { ...item, arguments: NOTE.arguments, status: 'completed' };
  const usage = { input_tokens: 20, output_tokens: 8, total_tokens: 28 };
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '', status: 'in_progress' } },
    { type: 'response.function_call_arguments.delta', ...place, delta: NOTE.arguments },
    { type: 'response.function_call_arguments.done', ...place, arguments: NOTE.arguments },
    { type: 'response.output_item.done', output_index: 0, item: whole },
    { type: 'response.completed', response: { id: 'resp_1', output: [whole], usage } },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(created + events.map((data, index) => event({ ...data, sequence_number: index + 1 })).join(''));
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

function begin(order: Order, response: ServerResponse): void {
  const answer = new Answer(order, response);
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

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => {
    body += part;
  });
  request.on('end', () => {
    const { input } = JSON.parse(body) as { input: { role?: string; type?: string; content: string }[] };
    const asked = input.findLastIndex(({ role }) => role === 'user');
    const order = readOrder(input[asked]?.content ?? '');
    const called = input.slice(asked).filter(({ type }) => type === 'function_call_output').length;
    if (called < order.calls) call(called + 1, response);
    else begin(order, response);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096, () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
