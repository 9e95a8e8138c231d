import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { boundedFetch } from './bounded-fetch.ts';

const LIMIT = 1000;

/** A server that sends these pieces, one per turn, and the last piece without end. */
async function serve(type: string, pieces: readonly string[], isEndless = false) {
  const server = createServer(async (_request, response) => {
    response.writeHead(200, { 'content-type': type });
    for (let index = 0; !response.destroyed && (isEndless || index < pieces.length); index += 1) {
      response.write(pieces[Math.min(index, pieces.length - 1)]);
      await new Promise(setImmediate);
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, [Symbol.dispose]: close };
}

test('a body of any length below the limit passes unchanged', async () => {
  using server = await serve('application/json', ['{"a":', `"${'x'.repeat(900)}"`, '}']);
  const response = await boundedFetch(LIMIT)(server.url);
  assert.equal(response.url, server.url);
  assert.deepEqual(await response.json(), { a: 'x'.repeat(900) });
});

test('an endless body and an endless event fail', async () => {
  for (const [type, piece] of [
    ['application/json', 'x'],
    ['application/json', '\n\n'],
    ['text/plain', 'xx\n\n'],
    ['text/event-stream', 'data: x'],
    ['text/event-stream', 'data: x\n'],
    ['text/event-stream', 'data: x\r\n'],
  ] as const) {
    using server = await serve(type, [piece], true);
    const response = await boundedFetch(LIMIT)(server.url);
    await assert.rejects(response.text(), /a message of more than 1000 bytes/, `${type} ${JSON.stringify(piece)}`);
  }
});

test('a stream of events may be longer than the limit, wherever it is cut', async () => {
  for (const [size, end] of [
    [1, '\n'],
    [7, '\n'],
    [1, '\r\n'],
    [7, '\r\n'],
    [100, '\r\n'],
  ] as const) {
    const whole = `event: message${end}data: ${'x'.repeat(200)}${end}${end}`.repeat(20);
    const pieces = whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    using server = await serve('text/event-stream; charset=utf-8', pieces);
    assert.equal(await (await boundedFetch(LIMIT)(server.url)).text(), whole);
  }
});

test('answers without a body pass', async () => {
  const server = createServer((_request, response) => response.writeHead(204).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const response = await boundedFetch(LIMIT)(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  assert.equal(response.status, 204);
  server.closeAllConnections();
  server.close();
});
