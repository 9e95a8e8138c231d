import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { failure, never } from '@runwire/test-kit/guarded-rig.ts';
import { testCertificate } from '@runwire/test-kit/test-certificate.ts';
import { FetchFailed } from './fetch-failed.ts';
import { GuardedFetcher } from './guarded-fetch.ts';
import { realNetwork } from './real-network.ts';
import { ALLOW_NOTHING, parseFetchAllow } from './url-rules/fetch-allow.ts';

const { ca, cert, key } = testCertificate(['localhost', 'files.test', '127.0.0.1']);

/** Starts a TLS server on loopback that records its clients' server names. */
async function fileServer(t: TestContext, answer: RequestListener) {
  const server = createServer({ cert, key }, answer);
  const servernames: unknown[] = [];
  server.on('secureConnection', (socket) => servernames.push(socket.servername));
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { server, servernames, port: (server.address() as AddressInfo).port };
}

function trust(t: TestContext): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, ca]);
  t.after(() => setDefaultCACertificates(before));
}

const fetcher = (allow: string) =>
  new GuardedFetcher({ allow: parseFetchAllow(allow), maxBytes: 1000, maxMs: 60_000, userAgent: 'Runwire/1' });

test('fetches over real TLS by name and by address, each hop on its own connection', async (t) => {
  trust(t);
  const asked: unknown[] = [];
  const { port, servernames } = await fileServer(t, ({ url, headers }, response) => {
    asked.push([url, headers.host, headers['user-agent'], headers['accept-encoding'], headers.cookie]);
    if (url === '/a?sig=1') {
      response.writeHead(302, { location: `https://127.0.0.1:${port}/b`, 'set-cookie': 'a=b' }).end();
    } else response.writeHead(200, { 'content-type': 'text/plain' }).end('file');
  });
  const both = fetcher(`localhost:${port} 127.0.0.1:${port}`);
  const { bytes, url } = await both.fetch(new URL(`https://localhost:${port}/a?sig=1`), never);
  assert.equal(Buffer.from(bytes).toString(), 'file');
  assert.equal(url.href, `https://127.0.0.1:${port}/b`);
  assert.deepEqual(asked, [
    ['/a?sig=1', `localhost:${port}`, 'Runwire/1', 'identity', undefined],
    ['/b', `127.0.0.1:${port}`, 'Runwire/1', 'identity', undefined],
  ]);
  assert.deepEqual(servernames, ['localhost', false]);
  const named = fetcher(`localhost:${port}`);
  assert.equal((await failure(named.fetch(new URL(`https://localhost:${port}/a?sig=1`), never))).kind, 'refused');
  const none = new GuardedFetcher({ allow: ALLOW_NOTHING, maxBytes: 1000, maxMs: 60_000 });
  assert.equal((await failure(none.fetch(new URL('https://localhost/'), never))).kind, 'refused');
  assert.equal(asked.length, 3);
});

test('refuses an untrusted or wrong certificate before it sends a request', async (t) => {
  const { server, port } = await fileServer(t, () => assert.fail('asked'));
  const dial = (servername: string) => realNetwork.dial({ address: '127.0.0.1', port, servername }, never);
  const certificate = (error: unknown) =>
    error instanceof FetchFailed && error.kind === 'unreachable' && /certificate/.test(error.message);
  await assert.rejects(dial('files.test'), certificate);
  await assert.rejects(dial('127.0.0.1'), certificate);
  trust(t);
  await assert.rejects(dial('other.test'), certificate);
  await assert.rejects(dial('127.0.0.2'), certificate);
  for (const name of ['files.test', '127.0.0.1']) (await dial(name)).destroy();
  server.close();
  await once(server, 'close');
  const closed = fetcher(`127.0.0.1:${port}`).fetch(new URL(`https://127.0.0.1:${port}/`), never);
  assert.equal((await failure(closed)).kind, 'unreachable');
});

test('an abort ends a hanging handshake and closes its connection', async (t) => {
  const server = createTcpServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const controller = new AbortController();
  const to = { address: '127.0.0.1', port: (server.address() as AddressInfo).port, servername: 'files.test' };
  const dialling = realNetwork.dial(to, controller.signal);
  const [socket] = await once(server, 'connection');
  const closed = once(
    socket.resume().on('error', () => {}),
    'close',
  );
  controller.abort(new Error('No longer wanted.'));
  await assert.rejects(dialling, /No longer wanted/);
  await closed;
  await assert.rejects(realNetwork.dial(to, controller.signal), /No longer wanted/);
});

test('a connection that breaks in the middle of the body fails cleanly', async (t) => {
  trust(t);
  const { port } = await fileServer(t, (_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('abc', () => response.socket?.destroy());
  });
  const broken = fetcher(`localhost:${port}`).fetch(new URL(`https://localhost:${port}/`), never);
  assert.equal((await failure(broken)).kind, 'broken');
});
