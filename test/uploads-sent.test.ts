import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { BOUNDARY, formBytes, openForm, writing } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { getFolder, run } from './support/cli-process.ts';
import { eventually } from './support/eventually.ts';
import { changed, says, without } from './support/upload-answers.ts';
import { FILE, UploadServer } from './support/upload-server.ts';

const set = await UploadServer.start({ limits: { uploadIdleMs: 5_000 } });
after(() => set[Symbol.asyncDispose]());

test('everything after the file is ignored: files, fields and the epilogue', async (t) => {
  cites(t, 'contract-7-post-policy');
  const key = 'first.png';
  const parts = [...set.parts({ key }), { name: 'file', value: 'a second' }, { name: 'acl', value: 'public-read' }];
  says(await set.post(parts, { epilogue: 'and more' }), 204, null);
  assert.deepEqual(await set.read(key), FILE);
  // Fields after the file are ignored.
  const late = [...without(set.parts(), 'policy'), ...set.parts().filter(({ name }) => name === 'policy')];
  await set.refuses(400, 'InvalidArgument', late);
});

test('`curl -F` uploads 20 MiB, and not a byte more', async (t) => {
  cites(t, 'spec-4.2-step-4', 'spec-8-upload-size');
  const bytes = randomBytes(20_971_520);
  const file = join(getFolder(t), 'big.bin');
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
  assert.ok((await set.read('big.bin')).equals(bytes));
  writeFileSync(file, Buffer.concat([bytes, Buffer.from('1')]));
  const there = set.stored();
  assert.equal(await curl(set.fields({ ...terms, key: 'bigger.bin', sizeBytes: bytes.length + 1 })), '400');
  assert.deepEqual(set.stored(), there);
});

test('accepts a body without a known length, also byte by byte', async () => {
  says(await set.post(set.parts({ key: 'chunked' }), { lengthBy: null }), 204, null);
  const bytes = formBytes({ parts: set.parts({ key: 'bytewise' }) });
  const { sent, answer } = openForm(set.url(), { lengthBy: null }, 0);
  for (const byte of bytes) {
    sent.write(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  sent.end();
  says(await answer, 204, null);
  assert.deepEqual(await set.read('bytewise'), FILE);
  await set.refuses(400, 'EntityTooLarge', set.parts({ sizeBytes: FILE.length - 1 }), { lengthBy: null });
});

test('reads no more of a file than is written: its sender waits', async () => {
  const bytes = randomBytes(20_971_520);
  const held = Promise.withResolvers<void>();
  async function* behindGate(source: AsyncIterable<Uint8Array>) {
    await held.promise;
    yield* source;
  }
  await using slow = await UploadServer.start({
    wrapBlobs: writing((write) => (key, source) => write(key, behindGate(source))),
  });
  const whole = formBytes({ parts: slow.parts({ sizeBytes: bytes.length }, bytes) });
  const { sent, answer } = openForm(slow.url(), {}, whole.length);
  sent.end(whole);
  await eventually('its write has begun', async () => slow.stored().length === 1);
  // Long enough that a server which continues to read has read everything.
  for (let asked = 0; asked < 100; asked += 1) await slow.server.api.get('/healthz');
  assert.equal(sent.writableFinished, false);
  held.resolve();
  says(await answer, 204, null);
  assert.ok((await slow.read('pictures/cat.png')).equals(bytes));
});

test('Location contains no invalid host', async () => {
  for (const host of ['evil example', 'a"b', '<a>', 'a@b']) {
    const { status, headers } = await set.post(set.parts({ key: 'some where' }), { headers: { host } });
    assert.deepEqual([status, headers.location], [204, '/uploads/demo/some%20where'], host);
  }
  const { headers } = await set.post(set.parts(), { headers: { host: 'Agents.example.com:80' } });
  assert.equal(headers.location, 'http://agents.example.com/uploads/demo/pictures%2Fcat.png');
});

test('recognises exactly the boundary of the media type', async () => {
  for (const contentType of [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=other',
  ]) {
    await set.refuses(400, 'MalformedPOSTRequest', set.parts(), { contentType });
  }
  for (const contentType of [
    'text/html',
    'application/json',
    'multipart/mixed; boundary=b',
    'multipart/form-databoundary=b',
  ]) {
    await set.refuses(412, 'PreconditionFailed', set.parts(), { contentType });
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
    assert.equal(String(await set.read(key)), value);
  }
  // The beginning of a boundary ends the file. Then a part begins whose head has no end.
  const ended = `some\r\n--${BOUNDARY}more`;
  await set.refuses(400, 'MalformedPOSTRequest', set.parts({ sizeBytes: ended.length }, ended));
  await set.refuses(400, 'MalformedPOSTRequest', [], { preamble: `--${BOUNDARY}\r\nno head` });
  await set.refuses(400, 'MalformedPOSTRequest', set.parts(), { lineEnd: '\n' });
});

test('the filename never reaches a header, a path or an answer', async () => {
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
    assert.deepEqual(await set.read('named'), FILE);
  }
  const torn = set
    .parts()
    .map((part) => (part.name === 'file' ? { ...part, filename: 'a"\r\nContent-Type: text/html\r\nX: "' } : part));
  says(await set.post(torn), 204, null);
  await set.refuses(400, 'InvalidArgument', set.parts({ contentType: 'image/png\r\nX-Evil: 1' }));
  const marked = await set.refuses(400, 'InvalidArgument', changed(set.parts(), 'x-amz-algorithm', '<b>&"\u0007'));
  assert.match(marked.body, /<ArgumentValue>&lt;b&gt;&amp;&quot;\ufffd<\/ArgumentValue>/);
});

test('limits the bytes, fields and headers before the file', async () => {
  const own = set.parts({ key: 'full' });
  const ignored = { name: 'x-ignore-rest', value: '' };
  const bare = formBytes({ parts: [ignored, ...own] }).length - FILE.length - `\r\n--${BOUNDARY}--\r\n`.length;
  const filled = (bytes: number) => [{ ...ignored, value: 'x'.repeat(bytes - bare) }, ...own];
  says(await set.post(filled(20_480)), 204, null);
  await set.refuses(400, 'MaxPostPreDataLengthExceeded', filled(20_481));
  const many = Array.from({ length: 10_000 }, (_, n) => ({ name: `x-ignore-${n}`, value: 'x' }));
  await set.refuses(400, 'MaxPostPreDataLengthExceeded', [...many, ...own]);
  await set.refuses(400, 'MaxPostPreDataLengthExceeded', many);
  const headers = Array.from({ length: 10_000 }, (_, n) => `X-${n}: x`);
  await set.refuses(400, 'MaxPostPreDataLengthExceeded', [{ name: 'x-ignore', value: 'x', headers }, ...own]);
});
