import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { ChunkedBody } from './chunked-body.ts';
import { PageBytes } from './encoders/page-bytes.ts';

/** Starts a server that answers each request with `answer`, and opens a raw connection to it. */
async function serve(answer: (body: ChunkedBody, response: ServerResponse, url: string) => unknown) {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    answer(new ChunkedBody(response), response, request.url ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const close = () => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  };
  return { socket, close };
}

const get = (path: string, version = '1.1') => `GET ${path} HTTP/${version}\r\nhost: test\r\n\r\n`;

async function readUntil(socket: Socket, isWhole: (text: string) => boolean): Promise<string> {
  let text = '';
  socket.setEncoding('utf8');
  while (!isWhole(text)) {
    const [data] = (await once(socket, 'data')) as [string];
    text += data;
  }
  return text;
}

const getBody = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);

/** Returns the chunks' text, which must be well-formed including the last one. */
function unchunked(body: string): string {
  let rest = Buffer.from(body);
  let text = '';
  for (;;) {
    const lineEnd = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.toString('latin1', 0, lineEnd), 16);
    const end = lineEnd + 2 + size;
    assert.equal(rest.toString('latin1', end, end + 2), '\r\n');
    text += rest.toString('utf8', lineEnd + 2, end);
    rest = rest.subarray(end + 2);
    if (size === 0) break;
  }
  assert.equal(rest.length, 0);
  return text;
}

const LAST_CHUNK = '\r\n0\r\n\r\n';

for (const kind of ['text', 'page'] as const)
  test(`sends ASCII, other text and bytes unchanged and ends the answer with a ${kind}`, async () => {
    const page = new PageBytes();
    const inPage = (text: string) => {
      page.clear();
      return page.text(text);
    };
    const { socket, close } = await serve((body, response) => {
      body.write(': \n\n');
      body.write('one ');
      // Each write is in its own turn, like tokens. These chunks bypass `ServerResponse.write`.
      const later = [() => 'two ', () => 'zwölf \u{1F600} ', () => inPage('bytes ä '), () => '', () => 'at the end '];
      const next = () => {
        const data = later.shift();
        if (data !== undefined) {
          body.write(data());
          setImmediate(next);
          return;
        }
        body.write(kind === 'text' ? 'last' : inPage('last'), undefined, true);
        response.end();
      };
      setImmediate(next);
    });
    socket.write(get('/'));
    const answer = await readUntil(socket, (text) => text.endsWith(LAST_CHUNK));
    assert.equal(unchunked(getBody(answer)), ': \n\none two zwölf \u{1F600} bytes ä at the end last');
    // The connection can be used again.
    socket.write(get('/'));
    await readUntil(socket, (text) => text.endsWith(LAST_CHUNK));
    close();
  });

test('keeps answers to pipelined requests apart and reuses the connection', async () => {
  const first = Promise.withResolvers<void>();
  const { socket, close } = await serve(async (body, response, url) => {
    body.write(`begin ${url}, `);
    await new Promise((resolve) => setImmediate(resolve));
    body.write(`go on ${url}, `);
    // The first request is answered last.
    if (url === '/1') await first.promise;
    body.write(`end ${url}`);
    response.end();
    if (url === '/2') first.resolve();
  });
  const expectedText = (url: string) => `begin ${url}, go on ${url}, end ${url}`;
  socket.write(get('/1') + get('/2'));
  const both = await readUntil(socket, (text) => text.split(LAST_CHUNK).length === 3);
  const second = both.lastIndexOf('HTTP/1.1 200');
  assert.equal(unchunked(getBody(both.slice(0, second))), expectedText('/1'));
  assert.equal(unchunked(getBody(both.slice(second))), expectedText('/2'));
  socket.write(get('/3'));
  assert.equal(unchunked(getBody(await readUntil(socket, (text) => text.endsWith(LAST_CHUNK)))), expectedText('/3'));
  close();
});

test('sends plain text without chunks to HTTP/1.0', async () => {
  const { socket, close } = await serve((body, response) => {
    body.write('one ');
    body.write('two');
    response.end();
  });
  socket.write(get('/', '1.0'));
  assert.equal(getBody(await readUntil(socket, (text) => text.endsWith('two'))), 'one two');
  close();
});

test('a page that a slow reader has not read yet is not overwritten by the next one', async () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const pages: string[] = [];
  const ended = Promise.withResolvers<void>();
  const { socket, close } = await serve((body, response) => {
    const page = new PageBytes();
    body.write('begin');
    const more = () => {
      const text = (letters[pages.length % letters.length] as string).repeat(12_000);
      page.clear();
      const isLast = response.writableLength > 200_000;
      body.write(page.text(text), undefined, isLast);
      pages.push(text);
      if (!isLast) return setImmediate(more);
      response.end();
      ended.resolve();
    };
    setImmediate(more);
  });
  socket.pause();
  socket.write(get('/'));
  await ended.promise;
  socket.resume();
  const answer = await readUntil(socket, (text) => text.endsWith(LAST_CHUNK));
  assert.ok(unchunked(getBody(answer)) === `begin${pages.join('')}`, 'the reader gets each page as it was written');
  close();
});

test('counts unread bytes as unsent and emits `drain` once after they are read', async () => {
  const piece = 'x'.repeat(64 * 1024);
  const full = Promise.withResolvers<ServerResponse>();
  let drains = 0;
  let written = 0;
  const { socket, close } = await serve((body, response) => {
    body.write(': \n\n');
    const more = () => {
      if (response.writableLength > 4 * piece.length) return full.resolve(response);
      body.write(piece);
      written += 1;
      setImmediate(more);
    };
    response.on('drain', () => {
      drains += 1;
    });
    more();
  });
  socket.pause();
  socket.write(get('/'));
  const response = await full.promise;
  const drainsBefore = drains;
  const drained = once(response, 'drain');
  let received = 0;
  socket.on('data', (data: Buffer) => {
    received += data.length;
  });
  socket.resume();
  await drained;
  assert.equal(response.writableLength, 0);
  response.end();
  while (received < written * piece.length) await once(socket, 'data');
  assert.equal(drains, drainsBefore + 1);
  close();
});
