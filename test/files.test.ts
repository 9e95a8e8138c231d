import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { type ApiClient, startTestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { eventually } from './support/eventually.ts';
import { upload } from './support/uploads.ts';

const server = await startTestServer();
after(() => server[Symbol.asyncDispose]());
const { api } = server;

let integrations = 0;
/** Makes an integration for each test. */
async function integration(): Promise<string> {
  integrations += 1;
  const apiIntegrationId = `files-${integrations}`;
  assert.equal((await api.post('/v2/integrations', { apiIntegrationId })).status, 201);
  return apiIntegrationId;
}

const listFiles = (id: string, query: Record<string, string> = {}) =>
  `/v2/integrations/${id}/files?${new URLSearchParams(query)}`;
const toContent = (id: string, path: string) => `/v2/integrations/${id}/files/content?${new URLSearchParams({ path })}`;
const list = async (id: string, query: Record<string, string> = {}) => (await api.get(listFiles(id, query))).body;
const namesIn = async (id: string, folder: string): Promise<string[]> =>
  (await list(id, { folder })).items.map(({ name }: { name: string }) => name);

function content(id: string, path: string, headers: Record<string, string> = {}, method = 'GET') {
  return fetch(server.url + toContent(id, path), { method, headers: { ...api.authorization, ...headers } });
}

const refused = async (answer: Promise<{ status: number; body: { code: string } }>) => {
  const { status, body } = await answer;
  return [status, body.code];
};

test('lists files with size, etag, type and time, and folders with nulls', async (t) => {
  cites(t, 'contract-3-files', 'contract-9-file');
  const id = await integration();
  assert.deepEqual(await list(id), { items: [], nextCursor: null }, 'an empty mount is there');
  const began = Date.now();
  await upload(api, 'abc', {
    apiIntegrationId: id,
    folder: '/app/mnt/u/42',
    filename: 'a.png',
    contentType: 'image/png',
  });
  const [file] = (await list(id, { folder: '/app/mnt/u/42' })).items;
  const { etag, modifiedAt, ...rest } = file;
  assert.deepEqual(rest, {
    name: 'a.png',
    path: '/app/mnt/u/42/a.png',
    kind: 'file',
    size: 3,
    contentType: 'image/png',
  });
  assert.match(etag, /^"[^"]+"$/);
  assert.ok(Math.abs(Date.parse(modifiedAt) - began) < 60_000);
  const folder = { kind: 'folder', size: null, etag: null, contentType: null, modifiedAt: null };
  assert.deepEqual((await list(id)).items, [{ name: 'u', path: '/app/mnt/u', ...folder }]);
  assert.deepEqual((await list(id, { folder: '/app/mnt/u' })).items, [
    { name: '42', path: '/app/mnt/u/42', ...folder },
  ]);
});

test('a list is sorted by the bytes of the name, page by page', async () => {
  const id = await integration();
  const names = ['B', 'a', 'a b', 'a.txt', '\u00e9', 'e\u0301', '写真', '😀', 'ﬁ', '%41', '-rf', '...'];
  const folder = '/app/mnt/l';
  for (const filename of names) await upload(api, 'x', { apiIntegrationId: id, folder, filename });
  await upload(api, 'x', { apiIntegrationId: id, folder: `${folder}/b`, filename: 'deep' });
  const sorted = [...names, 'b'].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  assert.deepEqual(await namesIn(id, folder), sorted);
  const paged: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: { name: string }[]; nextCursor: string | null } = await list(id, {
      folder,
      limit: '5',
      ...(cursor === null ? {} : { cursor }),
    });
    assert.ok(page.items.length <= 5);
    paged.push(...page.items.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== null);
  assert.deepEqual(paged, sorted);
});

test('refuses a list of no folder, with a bad cursor or with a bad limit', async (t) => {
  cites(t, 'contract-8-404-file-not-found', 'contract-7-not-canonical');
  const id = await integration();
  const path = await upload(api, 'x', { apiIntegrationId: id });
  for (const folder of ['/app/mnt/', '/app', 'u', '', '/app/mnt/../u', '/app/mnt/u/']) {
    assert.deepEqual(await refused(api.get(listFiles(id, { folder }))), [400, 'invalid_request'], folder);
  }
  for (const folder of ['/app/mnt/nowhere', '/app/mnt/u/v', path]) {
    assert.deepEqual(await refused(api.get(listFiles(id, { folder }))), [404, 'file_not_found'], folder);
  }
  for (const cursor of [
    '',
    '*',
    'Lg',
    Buffer.from('a/b').toString('base64url'),
    Buffer.from([255]).toString('base64url'),
  ]) {
    assert.deepEqual(await refused(api.get(listFiles(id, { cursor }))), [400, 'invalid_cursor'], cursor);
  }
  for (const limit of ['0', '201', 'many']) {
    assert.deepEqual(await refused(api.get(listFiles(id, { limit }))), [400, 'invalid_request'], limit);
  }
});

test('a file is a download that no browser runs, whatever its name and type', async (t) => {
  cites(t, 'contract-3-files');
  const id = await integration();
  const read = async (filename: string, contentType: string) => {
    const path = await upload(api, '<script>1</script>', { apiIntegrationId: id, filename, contentType });
    const answer = await content(id, path);
    assert.equal(answer.status, 200);
    assert.equal(await answer.text(), '<script>1</script>');
    assert.equal(answer.headers.get('content-length'), '18');
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(answer.headers.get('content-security-policy'), 'sandbox');
    assert.equal(answer.headers.get('accept-ranges'), 'bytes');
    const disposition = answer.headers.get('content-disposition') ?? '';
    assert.match(disposition, /^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''\S+$/);
    assert.equal(decodeURIComponent(disposition.split("''")[1] ?? ''), filename);
    return answer.headers.get('content-type');
  };
  assert.equal(await read('a.png', 'image/png'), 'image/png');
  assert.equal(await read('a.txt', 'text/plain'), 'text/plain; charset=utf-8');
  assert.equal(await read('写 "真"; x=1.html', 'text/html'), 'application/octet-stream');
  assert.equal(await read('a.svg', 'image/svg+xml'), 'application/octet-stream');
  assert.equal(await read('\u202egnp.exe', 'text/plain; charset=utf-7'), 'application/octet-stream');
});

test('a range is a part; a range past the end is 416; several are the whole', async (t) => {
  cites(t, 'contract-8-416-range-not-satisfiable');
  const id = await integration();
  const path = await upload(api, '0123456789', { apiIntegrationId: id });
  const part = async (range: string, headers: Record<string, string> = {}) => {
    const answer = await content(id, path, { range, ...headers });
    return [answer.status, await answer.text(), answer.headers.get('content-range')];
  };
  assert.deepEqual(await part('bytes=2-4'), [206, '234', 'bytes 2-4/10']);
  assert.deepEqual(await part('bytes=7-'), [206, '789', 'bytes 7-9/10']);
  assert.deepEqual(await part('bytes=-2'), [206, '89', 'bytes 8-9/10']);
  assert.deepEqual(await part('bytes=0-999'), [206, '0123456789', 'bytes 0-9/10']);
  assert.deepEqual(await part('bytes=0-1,4-5'), [200, '0123456789', null]);
  const behind = await content(id, path, { range: 'bytes=10-' });
  assert.deepEqual([behind.status, behind.headers.get('content-range')], [416, 'bytes */10']);
  assert.equal(((await behind.json()) as { code: string }).code, 'range_not_satisfiable');
  const etag = (await content(id, path, {}, 'HEAD')).headers.get('etag') ?? '';
  assert.deepEqual(await part('bytes=2-4', { 'if-range': etag }), [206, '234', 'bytes 2-4/10']);
  await upload(api, 'abcdefghij', { apiIntegrationId: id });
  assert.deepEqual(await part('bytes=2-4', { 'if-range': etag }), [200, 'abcdefghij', null], 'it was replaced');
});

test('a matching etag is 304; HEAD answers as GET, without bytes', async () => {
  const id = await integration();
  const path = await upload(api, '0123456789', { apiIntegrationId: id });
  const whole = await content(id, path);
  await whole.text();
  const etag = whole.headers.get('etag') ?? '';
  for (const method of ['GET', 'HEAD']) {
    const same = await content(id, path, { 'if-none-match': `"x", ${etag}` }, method);
    assert.deepEqual([same.status, await same.text(), same.headers.get('etag')], [304, '', etag]);
    const since = whole.headers.get('last-modified') ?? '';
    assert.equal((await content(id, path, { 'if-modified-since': since }, method)).status, 304);
  }
  const head = await content(id, path, {}, 'HEAD');
  assert.deepEqual([head.status, await head.text()], [200, '']);
  for (const name of [
    'content-length',
    'content-type',
    'content-disposition',
    'etag',
    'last-modified',
    'accept-ranges',
  ]) {
    assert.equal(head.headers.get(name), whole.headers.get(name), name);
  }
  for (const range of ['bytes=2-4', 'bytes=99-']) {
    const { status, headers } = await content(id, path, { range, 'if-range': etag }, 'HEAD');
    const said = ['content-range', 'content-length', 'accept-ranges'].map((name) => headers.get(name));
    assert.deepEqual([status, ...said], [200, null, '10', 'bytes'], 'a range is for GET alone');
  }
  assert.equal((await content(id, `${path}x`, {}, 'HEAD')).status, 404);
  await upload(api, 'other', { apiIntegrationId: id });
  assert.equal((await content(id, path, { 'if-none-match': etag })).status, 200, 'another upload has another etag');
});

test('a file is deleted; a folder only if the caller asks for it', async (t) => {
  cites(t, 'contract-3-files', 'contract-8-404-file-not-found');
  const id = await integration();
  const put = (folder: string, filename: string) => upload(api, 'x', { apiIntegrationId: id, folder, filename });
  const path = await put('/app/mnt/d', 'a');
  await put('/app/mnt/d/e', 'b');
  await put('/app/mnt/d/e/f', 'c');
  await put('/app/mnt/dd', 'g');
  const remove = (query: Record<string, string>) => api.delete(listFiles(id, query));
  assert.equal((await remove({ path })).status, 204);
  assert.deepEqual(await refused(remove({ path })), [404, 'file_not_found'], 'once');
  assert.equal((await content(id, path)).status, 404);
  const asFile = await remove({ path: '/app/mnt/d/e' });
  assert.deepEqual([asFile.status, asFile.body.code], [400, 'invalid_request']);
  assert.match(asFile.body.error, /recursive=true/);
  assert.deepEqual(await namesIn(id, '/app/mnt/d/e'), ['b', 'f'], 'nothing is gone');
  assert.equal((await remove({ path: '/app/mnt/d', recursive: 'true' })).status, 204);
  assert.deepEqual(await namesIn(id, '/app/mnt'), ['dd'], 'and what only begins alike stays');
  assert.deepEqual(await refused(remove({ path: '/app/mnt/d', recursive: 'true' })), [404, 'file_not_found']);
  for (const bad of ['/app/mnt', '/app/mnt/', '/app/mnt/dd/', '/app/mnt/../mnt/dd', '/etc/passwd', '']) {
    assert.deepEqual(await refused(remove({ path: bad, recursive: 'true' })), [400, 'invalid_request'], bad);
  }
  assert.deepEqual(await refused(api.delete(`/v2/integrations/${id}/files`)), [400, 'invalid_request']);
  assert.equal(
    (await remove({ path: '/app/mnt/dd/g', recursive: 'true' })).status,
    204,
    'a file is no less than a folder',
  );
  assert.deepEqual(await namesIn(id, '/app/mnt'), [], 'an empty folder is none');
});

test('files of other owners and integrations are 404', async () => {
  const id = await integration();
  const empty = await integration();
  const path = await upload(api, 'secret', { apiIntegrationId: id });
  const { body: owner } = await api.post('/v2/owners', { email: 'files@example.com' });
  const calls = (of: string, which: string) => [
    ['GET', listFiles(of, { folder: '/app/mnt/u' })],
    ['GET', toContent(of, which)],
    ['DELETE', listFiles(of, { path: which })],
    ['DELETE', listFiles(of, { path: '/app/mnt/u', recursive: 'true' })],
  ];
  const answers = async (of: string, which: string, by: ApiClient) => {
    const told: unknown[] = [];
    for (const [method = '', target = ''] of calls(of, which)) {
      const { status, body } = await by.call(method, target);
      told.push([status, body]);
    }
    const head = await fetch(by.url + toContent(of, which), { method: 'HEAD', headers: by.authorization });
    told.push([head.status, head.headers.get('etag'), head.headers.get('last-modified')]);
    return told;
  };
  const theirs = api.as(owner.apiKey);
  for (const by of [theirs, api.as(null)]) {
    const there = await answers(id, path, by);
    assert.deepEqual(there, await answers(id, '/app/mnt/u/nothing', by));
    assert.ok(there.every((told) => [401, 403].includes((told as [number])[0])));
  }
  const elsewhere = await answers(empty, path, api);
  assert.ok(elsewhere.every((told) => (told as [number])[0] === 404));
  const unknown = await answers('nowhere', path, theirs);
  assert.ok(unknown.every((told) => (told as [number])[0] === 404));
  const whole = await content(id, path);
  assert.equal(await whole.text(), 'secret', 'and it is there as it was');
});

/** Counts the open handles on blobs in this process, in which the server runs. */
function openFiles(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(`${server.dataDir}/blobs/`);
    } catch {
      return false;
    }
  }).length;
}

test('a reader that does not read holds one handle and little memory', async () => {
  const id = await integration();
  const bytes = Buffer.alloc(20_971_520, 'b');
  const path = await upload(api, bytes, { apiIntegrationId: id, filename: 'big.bin' });
  await eventually('the upload is closed', async () => openFiles() === 0);
  const held = process.memoryUsage().arrayBuffers;
  const readers = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const asked = request(server.url + toContent(id, path), { headers: api.authorization, agent: false });
      asked.end();
      const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
        asked.once('response', resolve);
        asked.once('error', reject);
      });
      assert.equal(response.statusCode, 200);
      response.on('error', () => {});
      return { asked, response };
    }),
  );
  assert.equal(openFiles(), 8);
  // Without backpressure all of them would use 160 MiB.
  await eventually('little is held', async () => process.memoryUsage().arrayBuffers < held + 40 * 1024 * 1024);
  assert.equal(openFiles(), 8);
  const [first, ...others] = readers;
  for (const { asked } of others) asked.destroy();
  await eventually('their handles are closed', async () => openFiles() === 1);
  let length = 0;
  for await (const chunk of first?.response ?? []) length += (chunk as Buffer).length;
  assert.equal(length, bytes.length, 'who reads on gets all of it');
  await eventually('and the last one too', async () => openFiles() === 0);
});

test('a file that is replaced during a read is sent as it was', async () => {
  const id = await integration();
  const options = { apiIntegrationId: id, filename: 'big.bin' };
  const path = await upload(api, Buffer.alloc(20_971_520, 'a'), options);
  const answer = await content(id, path);
  const reader = answer.body?.getReader();
  const seen = [(await reader?.read())?.value ?? new Uint8Array()];
  await upload(api, Buffer.alloc(20_971_520, 'z'), options);
  for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) seen.push(next.value);
  const whole = Buffer.concat(seen);
  assert.equal(whole.length, 20_971_520);
  assert.equal(whole.indexOf('z'), -1);
  assert.equal(Buffer.from(await (await content(id, path)).arrayBuffer()).indexOf('a'), -1);
});
