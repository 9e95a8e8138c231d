import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { crc32 } from 'node:zlib';
import {
  BOUNDARY,
  type FormAnswer,
  type FormPart,
  formBytes,
  type MountStore,
  openForm,
  partsOf,
  type RawForm,
  type Store,
  StoreUnavailable,
} from '@runwire/server/testing';
import { cites } from '../requirements/cite.ts';
import { folderOf, run, runwire } from './support/cli-process.ts';
import { eventually } from './support/eventually.ts';
import { FILE, UploadServer } from './support/upload-server.ts';

let set: UploadServer;
before(async () => {
  set = await UploadServer.start({ limits: { uploadIdleMs: 5_000 } });
});
after(() => set[Symbol.asyncDispose]());

function says(answer: FormAnswer, status: number, code: string | null): void {
  assert.deepEqual([answer.status, answer.code], [status, code], answer.body);
  assert.equal(answer.headers['access-control-allow-origin'], '*');
  if (code === null) return;
  assert.equal(answer.headers['content-type'], 'application/xml');
  assert.match(
    answer.body,
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<Error><Code>.*<RequestId>req_\w+<\/RequestId><HostId>/s,
  );
}

/** Refused, and nothing of it is there: under no name, and as no draft. */
async function refused(answer: Promise<FormAnswer>, status: number, code: string): Promise<FormAnswer> {
  const there = set.stored();
  const given = await answer;
  says(given, status, code);
  await eventually('no draft is left', async () => JSON.stringify(set.stored()) === JSON.stringify(there));
  return given;
}

const without = (parts: readonly FormPart[], name: string) => parts.filter((part) => part.name !== name);
const changed = (parts: readonly FormPart[], name: string, value: string) =>
  parts.map((part) => (part.name === name ? { ...part, value } : part));

test('a signed form stores its file under its own name, whole, and says where and with which etag', async () => {
  const answer = await set.post(set.parts({ key: 'a folder/größe.png' }));
  says(answer, 204, null);
  assert.equal(answer.headers.etag, `"${createHash('md5').update(FILE).digest('hex')}"`);
  assert.equal(answer.headers.location, `${set.url()}/a%20folder/gr%C3%B6%C3%9Fe.png`);
  assert.equal(answer.headers['content-type'], undefined);
  assert.deepEqual(set.read('demo/files/a folder/größe.png'), FILE);
});

test('a later upload of the same form replaces the file and makes no second', async () => {
  const parts = set.parts({ key: 'twice.txt', sizeBytes: 5 }, 'first');
  says(await set.post(parts), 204, null);
  says(await set.post([...without(parts, 'file'), { name: 'file', value: 'later' }]), 204, null);
  assert.equal(set.read('demo/files/twice.txt').toString(), 'later');
});

test('what was not signed so is refused, and nothing is stored', async (t) => {
  cites(t, 'contract-7-post-policy');
  const good = set.parts();
  const now = Date.now();
  await refused(set.post(set.parts({ signedAt: now - 900_001, expiresAt: now - 1 })), 403, 'AccessDenied');
  const tampered = Buffer.from(JSON.stringify({ expiration: '2999-01-01T00:00:00Z', conditions: [] })).toString(
    'base64',
  );
  await refused(set.post(changed(good, 'policy', tampered)), 403, 'SignatureDoesNotMatch');
  await refused(set.post(changed(good, 'x-amz-signature', 'f'.repeat(64))), 403, 'SignatureDoesNotMatch');
  await refused(set.post(changed(good, 'key', 'pictures/dog.png')), 403, 'AccessDenied');
  await refused(set.post(changed(good, 'Content-Type', 'text/html')), 403, 'AccessDenied');
  await refused(set.post([{ name: 'acl', value: 'public-read' }, ...good]), 403, 'AccessDenied');
  await refused(set.post([{ name: 'key', value: 'pictures/cat.png' }, ...good]), 403, 'AccessDenied');
  await refused(set.post([{ name: 'file', value: FILE }]), 400, 'InvalidArgument');
  await refused(
    set.post([
      { name: 'key', value: 'x' },
      { name: 'file', value: FILE },
    ]),
    403,
    'AccessDenied',
  );
  const credential = set.fields()['x-amz-credential']?.replace(/^[^/]+/, 'runwire-999999') ?? '';
  await refused(set.post(changed(good, 'x-amz-credential', credential)), 403, 'InvalidAccessKeyId');
  for (const { name } of without(good, 'file')) {
    // The type is no required field, but the policy has a condition on it.
    const [status, code] =
      name === 'Content-Type' ? ([403, 'AccessDenied'] as const) : ([400, 'InvalidArgument'] as const);
    await refused(set.post(without(good, name)), status, code);
  }
});

test('one byte more or less than was signed is refused, and so are no file and a file of another name', async () => {
  await refused(set.post(set.parts({ sizeBytes: FILE.length - 1 })), 400, 'EntityTooLarge');
  await refused(set.post(set.parts({ sizeBytes: FILE.length + 1 })), 400, 'EntityTooSmall');
  await refused(set.post(set.parts({ sizeBytes: 1 }, '')), 400, 'EntityTooSmall');
  await refused(set.post(without(set.parts(), 'file')), 400, 'InvalidArgument');
  const other = set.parts().map((part) => (part.name === 'file' ? { ...part, name: 'files' } : part));
  await refused(set.post(other), 400, 'InvalidArgument');
});

test('everything behind the file is ignored: a second file, fields and what follows the last boundary', async (t) => {
  cites(t, 'contract-7-post-policy');
  const key = 'first.png';
  const parts = [...set.parts({ key }), { name: 'file', value: 'a second' }, { name: 'acl', value: 'public-read' }];
  says(await set.post(parts, { epilogue: 'and more' }), 204, null);
  assert.deepEqual(set.read(`demo/files/${key}`), FILE);
  // Fields that come too late are none.
  const late = [...without(set.parts(), 'policy'), ...set.parts().filter(({ name }) => name === 'policy')];
  await refused(set.post(late), 400, 'InvalidArgument');
});

test('the form of one integration writes nothing into another, and a deleted one takes nothing', async () => {
  const { api } = set.server;
  for (const apiIntegrationId of ['other', 'gone']) {
    await api.post('/v2/integrations', { apiIntegrationId, name: 'Another', agency: 'demo' });
  }
  await refused(set.post(set.parts(), {}, 'other'), 403, 'AccessDenied');
  // Nobody learns which integrations there are.
  await refused(set.post(set.parts(), {}, 'never-there'), 403, 'AccessDenied');
  await refused(set.post([{ name: 'bucket', value: 'demo' }, ...set.parts()], {}, 'other'), 403, 'AccessDenied');
  await refused(set.post(set.parts(), {}, '..%2fdemo'), 403, 'AccessDenied');
  says(await set.post(set.parts({ bucket: 'gone' }), {}, 'gone'), 204, null);
  assert.equal((await api.delete('/v2/integrations/gone')).status, 204);
  await refused(set.post(set.parts({ bucket: 'gone', key: 'b' }), {}, 'gone'), 404, 'NoSuchBucket');
  await refused(set.post(set.parts({ bucket: 'no-one' }), {}, 'no-one'), 404, 'NoSuchBucket');
});

test('a key that is no canonical path is refused though it was signed', async () => {
  const filename = `$\{filename}`;
  for (const key of ['../up', '/abs', 'a//b', 'a/', '.', 'a\\b', 'a\u0000b', 'x'.repeat(901), '', `a${filename}`]) {
    const parts = set.parts({ key }).map((part) => (part.name === 'file' ? { name: 'file', value: FILE } : part));
    await refused(set.post(parts), 400, 'BadRequest');
  }
});

test('a file and a folder of one name: 409, and the sentence says so', async () => {
  says(await set.post(set.parts({ key: 'name' })), 204, null);
  const answer = await refused(set.post(set.parts({ key: 'name/below' })), 409, 'InvalidRequest');
  assert.match(answer.body, /<Message>[^<]*name[^<]*\.<\/Message>/);
});

test('`success_action_status` and the redirect are S3’s, where the policy covers them', async (t) => {
  cites(t, 'contract-7-post-policy');
  await refused(set.post([{ name: 'success_action_status', value: '201' }, ...set.parts()]), 403, 'AccessDenied');
  const redirect = { name: 'success_action_redirect', value: 'https://elsewhere.example' };
  await refused(set.post([redirect, ...set.parts()]), 403, 'AccessDenied');
  for (const [asked, status] of Object.entries({ 200: 200, 204: 204, 404: 204 })) {
    const answer = await set.post(set.covering({ success_action_status: asked }));
    says(answer, status, null);
    assert.equal(answer.body, '');
  }
  const made = await set.post(set.covering({ success_action_status: '201' }, { key: 'a&b/<c>' }));
  says(made, 201, null);
  const { etag, location } = made.headers;
  assert.equal(
    made.body,
    `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Location>${location}</Location><Bucket>demo</Bucket><Key>a&amp;b/&lt;c&gt;</Key><ETag>${String(etag).replaceAll('"', '&quot;')}</ETag></PostResponse>`,
  );
  const away = await set.post(set.covering({ success_action_redirect: 'https://elsewhere.example/?a=b' }));
  says(away, 303, null);
  assert.match(
    String(away.headers.location),
    /^https:\/\/elsewhere\.example\/\?a=b&bucket=demo&key=pictures%2Fcat\.png&etag=%22/,
  );
});

test('a checksum that the form gives must be the file’s', async () => {
  const right = {
    'x-amz-checksum-sha256': createHash('sha256').update(FILE).digest('base64'),
    'x-amz-checksum-sha1': createHash('sha1').update(FILE).digest('base64'),
    'x-amz-checksum-crc32': Buffer.from(crc32(FILE).toString(16).padStart(8, '0'), 'hex').toString('base64'),
  };
  says(await set.post(set.covering(right)), 204, null);
  for (const [name, value] of Object.entries(right)) {
    const wrong = Buffer.alloc(Buffer.from(value, 'base64').length).toString('base64');
    await refused(set.post(set.covering({ [name]: wrong }, { key: 'sum' })), 400, 'BadDigest');
    await refused(set.post(set.covering({ [name]: 'no checksum' }, { key: 'sum' })), 400, 'InvalidArgument');
  }
  await refused(set.post(set.covering({ 'x-amz-checksum-crc32c': 'AAAAAA==' }, { key: 'sum' })), 501, 'NotImplemented');
});

test('`curl -F` uploads 20 MiB, and not a byte more', async (t) => {
  const bytes = randomBytes(20_971_520);
  const file = join(folderOf(t), 'big.bin');
  writeFileSync(file, bytes);
  const curl = async (fields: Record<string, string>) => {
    const args = Object.entries(fields).flatMap(([name, value]) => ['-F', `${name}=${value}`]);
    const { stdout, code } = await run('curl', [
      '-sS',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      ...args,
      '-F',
      `file=@${file}`,
      set.url(),
    ]);
    assert.equal(code, 0);
    return stdout;
  };
  const terms = { key: 'big.bin', contentType: 'application/octet-stream', sizeBytes: bytes.length };
  assert.equal(await curl(set.fields(terms)), '204');
  assert.ok(set.read('demo/files/big.bin').equals(bytes));
  writeFileSync(file, Buffer.concat([bytes, Buffer.from('1')]));
  const there = set.stored();
  assert.equal(await curl(set.fields({ ...terms, key: 'bigger.bin', sizeBytes: bytes.length + 1 })), '400');
  assert.deepEqual(set.stored(), there);
});

test('a body without a known length is taken as it comes, byte by byte too', async () => {
  says(await set.post(set.parts({ key: 'chunked' }), { lengthBy: null }), 204, null);
  const bytes = formBytes({ parts: set.parts({ key: 'bytewise' }) });
  const { sent, answer } = openForm(set.url(), { lengthBy: null }, 0);
  for (const byte of bytes) {
    sent.write(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  sent.end();
  says(await answer, 204, null);
  assert.deepEqual(set.read('demo/files/bytewise'), FILE);
  await refused(set.post(set.parts({ sizeBytes: FILE.length - 1 }), { lengthBy: null }), 400, 'EntityTooLarge');
});

test('no more is read of a file than is written: its sender waits', async () => {
  const bytes = randomBytes(20_971_520);
  const held = Promise.withResolvers<void>();
  async function* behindGate(source: AsyncIterable<Uint8Array>) {
    await held.promise;
    yield* source;
  }
  await using slow = await UploadServer.start({
    wrapMount: (mount) =>
      new Proxy(mount, {
        get: (under, name: keyof MountStore) => {
          const part = under[name];
          if (name === 'write') {
            return (...[id, path, type, source]: Parameters<MountStore['write']>) =>
              under.write(id, path, type, behindGate(source));
          }
          return typeof part === 'function' ? part.bind(under) : part;
        },
      }),
  });
  const whole = formBytes({ parts: slow.parts({ sizeBytes: bytes.length }, bytes) });
  const { sent, answer } = openForm(slow.url(), {}, whole.length);
  sent.end(whole);
  await eventually('its write has begun', async () => slow.stored().length === 1);
  // Long enough for a server that reads on to have read it all.
  for (let asked = 0; asked < 100; asked += 1) await slow.server.api.get('/healthz');
  assert.equal(sent.writableFinished, false);
  held.resolve();
  says(await answer, 204, null);
  assert.ok(slow.read('demo/files/pictures/cat.png').equals(bytes));
});

test('a form that ends anywhere before its end is malformed, and nothing is stored', async () => {
  const whole = formBytes({ parts: set.parts({ key: 'cut' }) });
  const tail = BOUNDARY.length + FILE.length + 12;
  const places = [0, 1, 100, 1000, ...Array.from({ length: tail }, (_, n) => whole.length - 3 - n)];
  for (const place of places) {
    const { sent, answer } = openForm(set.url(), {}, place);
    sent.end(whole.subarray(0, place));
    const { status, code } = await answer;
    assert.ok(status === 400 && ['MalformedPOSTRequest', 'InvalidArgument'].includes(code ?? ''), `${place}: ${code}`);
  }
  assert.ok(!set.stored().includes('demo/files/cut'));
});

test('a sender that leaves in the middle leaves nothing, and one that half closes hears why', async () => {
  const file = randomBytes(1024 * 1024);
  const whole = formBytes({ parts: set.parts({ key: 'left', sizeBytes: file.length }, file) });
  const there = set.stored();
  for (const half of [500, 600_000]) {
    const { sent, answer } = openForm(set.url(), {}, whole.length);
    sent.write(whole.subarray(0, half));
    if (half > 500) await eventually('a draft', async () => set.stored().length > there.length);
    sent.destroy();
    await assert.rejects(answer);
    await eventually('nothing is left', async () => JSON.stringify(set.stored()) === JSON.stringify(there));
  }
  const socket = connect(Number(new URL(set.url()).port), '127.0.0.1');
  socket.end(
    `POST /uploads/demo HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 99\r\n\r\n--b`,
  );
  assert.match(await text(socket), /^HTTP\/1\.1 400 .*<Code>IncompleteBody<\/Code>/s);
});

test('Location names no host that is none', async () => {
  for (const host of ['evil example', 'a"b', '<a>', 'a@b']) {
    const { status, headers } = await set.post(set.parts({ key: 'some where' }), { headers: { host } });
    assert.deepEqual([status, headers.location], [204, '/uploads/demo/some%20where'], host);
  }
  const { headers } = await set.post(set.parts(), { headers: { host: 'Agents.example.com:80' } });
  assert.equal(headers.location, 'http://agents.example.com/uploads/demo/pictures/cat.png');
});

test('a sender that stops sending is cut, with S3’s RequestTimeout', async () => {
  await using slow = await UploadServer.start({ limits: { uploadIdleMs: 200 } });
  const whole = formBytes({ parts: slow.parts() });
  for (const part of [0, 300, whole.length - 5]) {
    const { sent, answer } = openForm(slow.url(), {}, whole.length);
    sent.write(whole.subarray(0, part));
    sent.flushHeaders();
    says(await answer, 400, 'RequestTimeout');
    sent.destroy();
  }
  await using long = await UploadServer.start({ limits: { uploadMs: 200 } });
  const { sent, answer } = openForm(long.url(), { lengthBy: null }, 0);
  const drip = setInterval(() => sent.write('x'), 20);
  says(await answer, 400, 'RequestTimeout');
  clearInterval(drip);
  sent.destroy();
  await eventually('nothing is left', async () => slow.stored().length + long.stored().length === 0);
});

test('who was refused cannot hold the connection for ever by sending on', async () => {
  await using refusing = await UploadServer.start({ limits: { uploadMs: 1_000 } });
  const socket = connect(Number(new URL(refusing.url()).port), '127.0.0.1');
  const closed = once(socket, 'close');
  // A drip may come after the cut.
  socket.on('error', () => {});
  socket.write('POST /uploads/demo HTTP/1.1\r\nhost: x\r\ncontent-type: text/html\r\ncontent-length: 1000000\r\n\r\n');
  let said = '';
  socket.on('data', (chunk) => {
    said += chunk;
  });
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  const drip = setInterval(() => socket.write('x'), 20);
  try {
    await eventually('the connection is cut', async () => isClosed);
  } finally {
    clearInterval(drip);
    socket.destroy();
  }
  assert.match(said, /^HTTP\/1\.1 412 /);
});

test('an upload under way when its form expires may go on for a while, and not for ever', async () => {
  await using drop = await UploadServer.start({ limits: { uploadGraceMs: 1_000, uploadMs: 30_000 } });
  const sizeBytes = 1024 * 1024;
  const file = randomBytes(sizeBytes);
  const expiresAt = Date.now() + 6_000;
  const whole = formBytes({ parts: drop.parts({ key: 'slow', sizeBytes, expiresAt }, file) });
  const { sent, answer } = openForm(drop.url(), {}, whole.length);
  sent.write(whole.subarray(0, 600_000));
  await eventually('a draft', async () => drop.stored().length === 1);
  let at = 600_000;
  const drip = setInterval(() => {
    sent.write(whole.subarray(at, at + 10));
    at += 10;
  }, 20);
  const given = await answer;
  clearInterval(drip);
  sent.destroy();
  says(given, 403, 'AccessDenied');
  assert.match(given.body, /Policy expired/);
  assert.ok(Date.now() >= expiresAt + 1_000, 'not before its time');
  await eventually('nothing is left', async () => drop.stored().length === 0);
});

test('boundaries are found where they are, and nowhere else', async () => {
  for (const contentType of [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=other',
  ]) {
    await refused(set.post(set.parts(), { contentType }), 400, 'MalformedPOSTRequest');
  }
  for (const contentType of [
    'text/html',
    'application/json',
    'multipart/mixed; boundary=b',
    'multipart/form-databoundary=b',
  ]) {
    await refused(set.post(set.parts(), { contentType }), 412, 'PreconditionFailed');
  }
  const likeness = [
    `x--${BOUNDARY}`,
    `-${BOUNDARY}--\r\n`,
    `\n--${BOUNDARY}\n`,
    `\r\n-${BOUNDARY}`,
    '\r\n--',
    '--',
    '\r\n\r\n\r\n',
  ];
  for (const [place, value] of likeness.entries()) {
    const key = `like-${place}`;
    says(await set.post(set.parts({ key, sizeBytes: Buffer.byteLength(value) }, value)), 204, null);
    assert.equal(set.read(`demo/files/${key}`).toString(), value);
  }
  // What begins as a boundary ends the file, and then a part begins whose head has no end.
  const ended = `some\r\n--${BOUNDARY}more`;
  await refused(set.post(set.parts({ sizeBytes: ended.length }, ended)), 400, 'MalformedPOSTRequest');
  await refused(set.post([], { preamble: `--${BOUNDARY}\r\nno head` }), 400, 'MalformedPOSTRequest');
  await refused(set.post(set.parts(), { lineEnd: '\n' }), 400, 'MalformedPOSTRequest');
});

test('what a filename says never reaches a header, a path or an answer', async () => {
  for (const filename of [
    '../../etc/passwd',
    'a\\"; name=\\"key',
    'a%0d%0aX-Evil: 1',
    '\u0000',
    'x'.repeat(5000),
    '',
  ]) {
    const parts = set.parts({ key: 'named' }).map((part) => (part.name === 'file' ? { ...part, filename } : part));
    const answer = await set.post(parts);
    says(answer, 204, null);
    assert.equal(answer.headers['x-evil'], undefined);
    assert.deepEqual(set.read('demo/files/named'), FILE);
  }
  const torn = set
    .parts()
    .map((part) => (part.name === 'file' ? { ...part, filename: 'a"\r\nContent-Type: text/html\r\nX: "' } : part));
  says(await set.post(torn), 204, null);
  await refused(set.post(set.parts({ contentType: 'image/png\r\nX-Evil: 1' })), 400, 'InvalidArgument');
  const marked = await refused(
    set.post(changed(set.parts(), 'x-amz-algorithm', '<b>&"\u0007')),
    400,
    'InvalidArgument',
  );
  assert.match(marked.body, /<ArgumentValue>&lt;b&gt;&amp;&quot;\ufffd<\/ArgumentValue>/);
});

test('20 480 bytes may come before the file’s first, and no more; nor 10 000 fields or headers', async () => {
  const own = set.parts({ key: 'full' });
  const ignored = { name: 'x-ignore-rest', value: '' };
  const bare = formBytes({ parts: [ignored, ...own] }).length - FILE.length - `\r\n--${BOUNDARY}--\r\n`.length;
  const filled = (bytes: number) => [{ ...ignored, value: 'x'.repeat(bytes - bare) }, ...own];
  says(await set.post(filled(20_480)), 204, null);
  await refused(set.post(filled(20_481)), 400, 'MaxPostPreDataLengthExceeded');
  const many = Array.from({ length: 10_000 }, (_, n) => ({ name: `x-ignore-${n}`, value: 'x' }));
  await refused(set.post([...many, ...own]), 400, 'MaxPostPreDataLengthExceeded');
  await refused(set.post(many), 400, 'MaxPostPreDataLengthExceeded');
  const headers = Array.from({ length: 10_000 }, (_, n) => `X-${n}: x`);
  await refused(set.post([{ name: 'x-ignore', value: 'x', headers }, ...own]), 400, 'MaxPostPreDataLengthExceeded');
});

test('a form longer than it said is malformed, and its answer still comes', async () => {
  await refused(set.post(set.parts(), { lengthBy: -10 }), 400, 'MalformedPOSTRequest');
});

test('a refused sender gets its answer before it has sent all, and its connection stays usable', async () => {
  const { sent, answer } = openForm(set.url(), { contentType: 'text/plain' }, 10_000_000);
  sent.flushHeaders();
  says(await answer, 412, 'PreconditionFailed');
  sent.destroy();
  const socket = connect(Number(new URL(set.url()).port), '127.0.0.1');
  const head = (name: string, more = '') =>
    `POST /uploads/demo HTTP/1.1\r\nhost: ${name}\r\ncontent-type: text/plain\r\ncontent-length: 3\r\n${more}\r\nabc`;
  socket.write(head('a'));
  await once(socket, 'data');
  socket.end(head('b', 'connection: close\r\n'));
  assert.match(await text(socket), /^HTTP\/1\.1 412 /);
});

test('any origin may post; other methods are S3’s 405', async (t) => {
  cites(t, 'contract-7-upload-cors');
  const preflight = await fetch(set.url(), {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-a',
    },
  });
  assert.equal(preflight.status, 200);
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
  assert.equal(preflight.headers.get('access-control-allow-methods'), 'POST');
  assert.equal(preflight.headers.get('access-control-allow-headers'), '*');
  assert.equal(preflight.headers.get('access-control-allow-credentials'), null);
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
    const answer = await fetch(set.url(), { method });
    assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST, OPTIONS'], method);
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    if (method !== 'HEAD') assert.match(await answer.text(), /<Code>MethodNotAllowed<\/Code>/);
  }
});

test('while the store cannot be asked an upload is told to come again', async () => {
  let isAway = false;
  const wrapStore = (store: Store): Store => ({
    kind: store.kind,
    transact: store.transact.bind(store),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    reads: {
      query: (build) => store.reads.query(build),
      all: async (statement, params) => {
        if (isAway && statement.name === 'upload secret') throw new StoreUnavailable('away');
        return store.reads.all(statement, params);
      },
    },
  });
  await using away = await UploadServer.start({ wrapStore });
  isAway = true;
  const answer = await away.post(away.parts());
  says(answer, 503, 'ServiceUnavailable');
  assert.equal(answer.headers['retry-after'], '1');
  isAway = false;
  says(await away.post(away.parts()), 204, null);
});

test('an upload that is under way when the server is told to end is taken to its end', async () => {
  await using ending = await UploadServer.start();
  const whole = formBytes({ parts: ending.parts() });
  const { sent, answer } = openForm(ending.url(), {}, whole.length);
  sent.write(whole.subarray(0, whole.length - 30));
  await eventually('a draft', async () => ending.stored().length === 1);
  const drained = ending.server.server.drain();
  sent.end(whole.subarray(whole.length - 30));
  const given = await answer;
  says(given, 204, null);
  assert.equal(given.headers.connection, 'close');
  await drained;
  assert.deepEqual(ending.stored(), ['demo/files/pictures/cat.png']);
});

test('a rotated secret signs nothing new, and what it signed before stays good to its end', async () => {
  await using rotating = await UploadServer.start();
  const before = rotating.parts({ key: 'before' });
  const old = rotating.key;
  const { code, stdout, stderr } = await runwire(['uploads', 'rotate'], { env: await rotating.environment });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Upload forms are signed with secret number 3 from now on; those signed before stay valid/);
  rotating.use(stdout);
  says(await rotating.post(before), 204, null);
  says(await rotating.post(rotating.parts({ key: 'after' })), 204, null);
  const leaked = (signedAt: number, expiresAt: number): RawForm['parts'] => [
    ...partsOf(rotating.fields({ key: 'leaked', signedAt, expiresAt }, old)),
    { name: 'file', value: FILE },
  ];
  const now = Date.now();
  for (const form of [leaked(now + 60_000, now + 120_000), leaked(now - 60_000, now + 900_000)]) {
    says(await rotating.post(form), 403, 'AccessDenied');
  }
  assert.deepEqual(rotating.stored(), ['demo/files/after', 'demo/files/before']);
  const direct = { ...(await rotating.environment), S3_BUCKET: 'a-bucket', AWS_REGION: 'us-east-1' };
  const elsewhere = await runwire(['uploads', 'rotate'], { env: direct });
  assert.equal(elsewhere.code, 0, elsewhere.stderr);
  assert.match(
    elsewhere.stdout,
    /^With S3_UPLOADS=direct .* AWS credentials .* another access key .* secret number 4 /,
  );
  const through = await runwire(['uploads', 'rotate'], { env: { ...direct, S3_UPLOADS: 'through' } });
  assert.match(through.stdout, /^Upload forms are signed with secret number 5 from now on/, through.stderr);
  const usage = await runwire(['uploads'], { env: await rotating.environment });
  assert.deepEqual([usage.code, usage.stdout], [2, '']);
});
