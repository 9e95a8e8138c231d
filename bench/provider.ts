import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readOrder, TOKENS } from './model.ts';

/*
 * The provider of `--provider`, a process of its own that speaks OpenAI's Responses protocol: what is ordered in the
 * last message, BURST events in one write, each write in a turn of its own. Both servers ask it over loopback.
 */

const event = (data: Readonly<Record<string, unknown>>) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const place = { item_id: 'msg_68e9f0a1b2c3d4e5f60718293a4b5c6d', output_index: 0, content_index: 0 };
const created = event({
  type: 'response.created',
  sequence_number: 0,
  response: { id: 'resp_1', status: 'in_progress' },
});

function answer(order: { readonly tokens: number; readonly burst: number }, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let said = 0;
  let bytes = created;
  const turn = () => {
    if (response.destroyed) return;
    const until = Math.min(order.tokens, said + order.burst);
    for (; said < until; said += 1) {
      const delta = TOKENS[said % TOKENS.length];
      bytes += event({ type: 'response.output_text.delta', sequence_number: said + 1, ...place, delta, logprobs: [] });
    }
    if (said < order.tokens) {
      response.write(bytes);
      bytes = '';
      setImmediate(turn);
      return;
    }
    const usage = { input_tokens: 20, output_tokens: said, total_tokens: said + 20 };
    const done = {
      type: 'response.completed',
      sequence_number: said + 1,
      response: { id: 'resp_1', output: [], usage },
    };
    response.end(bytes + event(done));
  };
  setImmediate(turn);
}

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => {
    body += part;
  });
  request.on('end', () => {
    const { input } = JSON.parse(body) as { input: { content: string }[] };
    answer(readOrder(input.at(-1)?.content ?? ''), response);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096, () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
