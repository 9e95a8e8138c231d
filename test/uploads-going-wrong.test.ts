import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { BOUNDARY, formBytes, openForm } from '@runwire/test-kit';
import { eventually } from './support/eventually.ts';
import { RawConnection } from './support/raw-http.ts';
import { says } from './support/upload-answers.ts';
import { FILE, UploadServer } from './support/upload-server.ts';

const set = await UploadServer.start({ limits: { uploadIdleMs: 5_000 } });
after(() => set[Symbol.asyncDispose]());

test('a file and a folder of one name is 409 with a sentence about it', async () => {
  says(await set.post(set.parts({ key: 'name' })), 204, null);
  const answer = await set.refuses(409, 'InvalidRequest', set.parts({ key: 'name/below' }));
  assert.match(answer.body, /<Message>[^<]*name[^<]*\.<\/Message>/);
});

test('a form that is cut anywhere is malformed and stores nothing', async () => {
  const whole = formBytes({ parts: set.parts({ key: 'cut' }) });
  const tail = BOUNDARY.length + FILE.length + 12;
  const places = [0, 1, 100, 1000, ...Array.from({ length: tail }, (_, n) => whole.length - 3 - n)];
  for (const place of places) {
    const { sent, answer } = openForm(set.url(), {}, place);
    sent.end(whole.subarray(0, place));
    const { status, code } = await answer;
    assert.ok(status === 400 && ['MalformedPOSTRequest', 'InvalidArgument'].includes(code ?? ''), `${place}: ${code}`);
  }
  assert.ok(!(await set.paths()).includes('cut'));
});

test('a sender that leaves stores nothing; a half-closed one gets its answer', async () => {
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

test("a sender that stops sending is cut, with S3's RequestTimeout", async () => {
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

test('a refused sender cannot hold the connection by sending more', async () => {
  await using refusing = await UploadServer.start({ limits: { uploadMs: 1_000 } });
  const connection = new RawConnection(refusing.url());
  connection.send(
    'POST /uploads/demo HTTP/1.1\r\nhost: x\r\ncontent-type: text/html\r\ncontent-length: 1000000\r\n\r\n',
  );
  assert.match(await connection.drip(), /^HTTP\/1\.1 412 /);
});

test('an upload may finish for a limited time after its form expires', async () => {
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

test('a form longer than its length is malformed and is still answered', async () => {
  await set.refuses(400, 'MalformedPOSTRequest', set.parts(), { lengthBy: -10 });
});

test('a refused sender gets its answer early and keeps its connection', async () => {
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

test('an upload under way at SIGTERM is completed', async () => {
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
  assert.deepEqual(await ending.paths(), ['pictures/cat.png']);
});
