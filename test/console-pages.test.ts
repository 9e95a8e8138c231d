import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { fullTest, startTestServer, type TestServer, temporaryFolder } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { compressFiles } from '../scripts/build/compress-files.ts';
import { root } from './support/cli-process.ts';
import { listSamples } from './support/doc-samples.ts';
import { Nginx } from './support/nginx.ts';
import { missingService } from './support/services.ts';
import { upload } from './support/uploads.ts';

const BUILT = join(root, 'packages/console/built');
const [script = ''] = readdirSync(join(BUILT, 'assets')).filter((name) => name.endsWith('.js'));
const SCRIPT = `/console/assets/${script}`;

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server[Symbol.asyncDispose]());

interface PageAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends the path and the headers as they are, and leaves the answer compressed. */
async function send(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET', { url } = server) {
  const { hostname, port } = new URL(url);
  return new Promise<PageAnswer>((resolve, reject) => {
    const sent = request({ host: hostname, port, path, headers, method, agent: false }, async (answer) => {
      const body = await buffer(answer);
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body });
    });
    sent.once('error', reject).end();
  });
}

const unpack = { br: brotliDecompressSync, gzip: gunzipSync, none: (bytes: Buffer) => bytes };

const getBase = ({ body }: PageAnswer) => /<base href="([^"]*)" \/>/.exec(body.toString())?.[1];

test('the page has a policy without exceptions and is not cached', async () => {
  const { status, headers } = await send('/console/');
  assert.equal(status, 200);
  const { 'content-security-policy': policy, ...rest } = headers;
  assert.deepEqual(String(policy).split('; '), [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
  assert.equal(rest['content-type'], 'text/html; charset=utf-8');
  assert.equal(rest['x-content-type-options'], 'nosniff');
  assert.equal(rest['referrer-policy'], 'no-referrer');
  assert.equal(rest['cache-control'], 'no-cache');
  assert.equal(rest['set-cookie'], undefined);
});

test('/ and /console lead to the console, also below a path', async (t) => {
  cites(t, 'contract-2-without-key-root');
  for (const path of ['/', '/console', '/console?a=1']) {
    const { status, headers } = await send(path);
    assert.equal(status, 302, path);
    assert.equal(headers.location, path === '/' ? '/console/' : 'console/');
    assert.equal((await fetch(`${server.url}${path}`)).url, `${server.url}/console/`);
  }
  const posted = await server.api.as(null).post('/', {});
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET']);
  const publicUrl = 'https://example.com/runwire';
  await using behind = await startTestServer({ env: { RUNWIRE_PUBLIC_URL: publicUrl } });
  for (const path of ['/', '/console']) {
    const { headers } = await send(path, {}, 'GET', behind);
    assert.equal(new URL(headers.location ?? '', `${publicUrl}${path}`).href, `${publicUrl}/console/`);
  }
});

test('every path that is no file is the page, with a base that leads back', async () => {
  const paths = ['', 'integrations', 'integrations/', 'a/b', 'a/b/', '/a', 'a%2Fb/c?d=/e', 'sign_in', 'index.html'];
  for (const path of [...paths, 'a/'.repeat(12)]) {
    const answer = await send(`/console/${path}`);
    assert.equal(answer.status, 200, path);
    // As a browser resolves it, with a path that a proxy has removed.
    const page = new URL(`https://example.com/below/console/${path}`);
    assert.equal(new URL(getBase(answer) ?? '', page).pathname, '/below/console/', path);
  }
  assert.equal((await send(`/console/${'a/'.repeat(13)}`)).status, 404);
  assert.equal((await send('/console/', {}, 'POST')).status, 404);
  assert.equal((await send('/consoles')).status, 404);
});

test('files have their type, and hashed names never expire', async () => {
  const { status, headers, body } = await send(SCRIPT);
  assert.deepEqual([status, headers['content-type']], [200, 'text/javascript; charset=utf-8']);
  assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.ok(body.equals(readFileSync(join(BUILT, 'assets', script))));
  const icon = await send('/console/icon.svg');
  assert.deepEqual([icon.headers['content-type'], icon.headers['cache-control']], ['image/svg+xml', 'no-cache']);
});

test('an unknown asset is 404, and no path leaves the folder', async () => {
  for (const path of ['assets/none.js', 'assets/', 'assets/../index.html', `assets/../assets/${script}`]) {
    const { status, headers, body } = await send(`/console/${path}`);
    assert.deepEqual([status, JSON.parse(body.toString()).code], [404, 'not_found'], path);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  }
  for (const path of ['../package.json', '..%2fpackage.json', '%2e%2e/package.json', '..\\package.json', '%00']) {
    const { headers } = await send(`/console/${path}`);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8', path);
  }
});

test('files are compressed as the client accepts it', async () => {
  const cases = [
    ['br, gzip', 'br'],
    ['gzip, deflate, br;q=0', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['*', 'br'],
    ['deflate', undefined],
    ['gzip;q=0, br;q=0.0', undefined],
    ['', undefined],
  ] as const;
  for (const path of [SCRIPT, '/console/', '/console/a/b']) {
    const plain = (await send(path)).body;
    for (const [accepted, encoding] of cases) {
      const { headers, body } = await send(path, { 'accept-encoding': accepted });
      assert.deepEqual([headers['content-encoding'], headers.vary], [encoding, 'Accept-Encoding'], accepted);
      assert.equal(headers['content-length'], String(body.length));
      assert.ok(unpack[encoding ?? 'none'](body).equals(plain), `${path} as ${accepted}`);
    }
  }
});

const DEMO = '/v2/integrations/demo';
const LONG_TEXT = 'text '.repeat(400);

test('answers to pages of others are compressed, and files are not', async () => {
  const { api } = server;
  const accepting = { 'accept-encoding': 'br, gzip', ...api.authorization };
  assert.equal((await api.put(`${DEMO}/members/ann`, {})).status, 201);
  assert.equal((await api.post(`${DEMO}/chats`, { chatId: 'long', consumerId: 'ann' })).status, 201);
  assert.equal((await api.patch(`${DEMO}/chats/long`, { metadata: { note: LONG_TEXT } })).status, 200);
  const minting = { consumerId: 'ann', can: ['read'], origins: ['https://app.example.com'] };
  const { body: minted } = await api.post(`${DEMO}/client_tokens`, minting);
  const { headers } = await send(`${DEMO}/chats/long`, {
    ...accepting,
    authorization: `Bearer ${minted.clientToken}`,
    origin: 'https://app.example.com',
  });
  assert.deepEqual(
    [headers['content-encoding'], headers.vary, headers['access-control-allow-origin']],
    ['br', 'Origin, Accept-Encoding', 'https://app.example.com'],
  );
  const json = JSON.stringify({ note: LONG_TEXT });
  await upload(api, json, { filename: 'note.json', contentType: 'application/json' });
  const path = `${DEMO}/files/content?path=${encodeURIComponent('/app/mnt/u/note.json')}`;
  const file = await send(path, accepting);
  assert.deepEqual([file.headers['content-encoding'], file.body.toString()], [undefined, json]);
});

fullTest('a file that the build has compressed is sent as it is', async (t) => {
  const consoleFolder = temporaryFolder();
  t.after(() => rmSync(consoleFolder, { recursive: true, force: true }));
  cpSync(BUILT, consoleFolder, { recursive: true });
  await compressFiles(consoleFolder);
  await using compressed = await startTestServer({ consoleFolder });
  const { headers, body } = await send(SCRIPT, { 'accept-encoding': 'br' }, 'GET', compressed);
  assert.equal(headers['content-encoding'], 'br');
  assert.ok(body.equals(readFileSync(join(consoleFolder, 'assets', `${script}.br`))));
  assert.ok(brotliDecompressSync(body).equals(readFileSync(join(BUILT, 'assets', script))));
  assert.equal((await send(`${SCRIPT}.br`, {}, 'GET', compressed)).status, 404);
});

test('a page that the browser has is 304; HEAD has the headers alone', async () => {
  const { headers } = await send('/console/');
  const etag = headers.etag ?? '';
  const { status, body, headers: again } = await send('/console/', { 'if-none-match': `"other", ${etag}` });
  assert.deepEqual([status, body.length, again.etag, again['cache-control']], [304, 0, etag, 'no-cache']);
  assert.equal((await send('/console/', { 'if-none-match': '"other"' })).status, 200);
  assert.equal((await send('/console/a/b', { 'if-none-match': etag })).status, 200, 'its base is another');
  for (const path of ['/console/', SCRIPT]) {
    const get = await send(path, { 'accept-encoding': 'br' });
    const head = await send(path, { 'accept-encoding': 'br' }, 'HEAD');
    assert.deepEqual([head.status, head.body.length], [200, 0]);
    const comparable = ({ date: _date, 'x-request-id': _id, ...rest }: IncomingHttpHeaders) => rest;
    assert.deepEqual(comparable(head.headers), comparable(get.headers));
  }
  assert.equal((await send('/console', {}, 'HEAD')).status, 302);
});

test('without its files the server starts, and explains it until they exist', async (t) => {
  const consoleFolder = join(temporaryFolder(), 'console');
  t.after(() => rmSync(join(consoleFolder, '..'), { recursive: true, force: true }));
  await using bare = await startTestServer({ consoleFolder });
  for (const path of ['/console/', '/console/a/b', '/console/icon.svg']) {
    const { status, body } = await send(path, {}, 'GET', bare);
    assert.equal(status, 404);
    assert.match(JSON.parse(body.toString()).error, /^The files of the console are missing on this server; /);
  }
  assert.equal((await bare.api.get('/v2/me')).status, 200);
  mkdirSync(consoleFolder);
  writeFileSync(join(consoleFolder, 'index.html'), '<base href="./" />');
  assert.equal((await send('/console/a/b', {}, 'GET', bare)).body.toString(), '<base href="../" />');
});

test('the pages are not part of the API, and need no key', async (t) => {
  cites(t, 'contract-2-without-key-console', 'contract-1-run-console');
  const { body } = await server.api.as(null).get('/openapi.json');
  assert.deepEqual(Object.keys(body.paths).filter((path) => path.startsWith('/console')), []); // biome-ignore format: short
  const { headers } = await send('/console/', { authorization: 'Bearer wrong', cookie: 'runwire_session=wrong' });
  assert.deepEqual([headers['www-authenticate'], headers['set-cookie']], [undefined, undefined]);
});

test('below a path of nginx the page finds its files', {
  skip: (await missingService('nginx')) ?? false,
}, async () => {
  const [sample = ''] = listSamples('docs/console.md', 'nginx');
  const location = sample.replace('http://127.0.0.1:8787', server.url).trim();
  assert.ok(location.includes(server.url));
  // The sample is a second location beside the only one.
  await using nginx = await Nginx.start(server.url, `} ${location.replace(/\}$/, '')}`);
  assert.equal((await fetch(`${nginx.url}/runwire/console`)).url, `${nginx.url}/runwire/console/`);
  for (const path of ['', 'integrations/demo/runs?status=failed']) {
    const page = await fetch(`${nginx.url}/runwire/console/${path}`);
    const text = await page.text();
    const base = new URL(/<base href="([^"]*)"/.exec(text)?.[1] ?? '', page.url);
    const file = new URL(/<script [^>]*src="([^"]*)"/.exec(text)?.[1] ?? '', base);
    assert.match(file.pathname, /^\/runwire\/console\/assets\//);
    const { status, headers } = await fetch(file);
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/javascript; charset=utf-8']);
  }
});
