import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { never } from '@runwire/test-kit/guarded-rig.ts';
import { FetchFailed } from './fetch-failed.ts';
import { resolveName } from './resolve-name.ts';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NO_SUCH_NAME = 3;
const SERVER_FAILED = 2;

/** Returns addresses as bytes, or a number for an error code, or null for no answer. */
type Answer = (name: string, type: number) => readonly (readonly number[])[] | number | null;

/** A minimal name server on loopback (RFC 1035). */
async function nameServer(t: TestContext, answer: Answer): Promise<{ servers: string[]; asked: Promise<unknown> }> {
  const socket = createSocket('udp4');
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const type = query.readUInt16BE(at + 1);
    const found = answer(labels.join('.').toLowerCase(), type);
    resolve();
    if (found === null) return;
    const records = typeof found === 'number' ? [] : found;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 | (typeof found === 'number' ? found : 0), 2);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    const bodies = records.map((bytes) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
    );
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...bodies]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { servers: [`127.0.0.1:${socket.address().port}`], asked };
}

test('finds every address of both kinds, and none if the name does not exist', async (t) => {
  const names: string[] = [];
  const { servers } = await nameServer(t, (name, type) => {
    names.push(name);
    if (name === 'gone.test') return NO_SUCH_NAME;
    if (name === 'old.test' && type === TYPE_AAAA) return [];
    if (name === 'half.test' && type === TYPE_AAAA) return SERVER_FAILED;
    return type === TYPE_A
      ? [
          [93, 184, 216, 34],
          [10, 0, 0, 5],
        ]
      : [[0x20, 1, ...new Array(13).fill(0), 1]];
  });
  assert.deepEqual(await resolveName('both.test', never, servers), ['93.184.216.34', '10.0.0.5', '2001::1']);
  assert.deepEqual(await resolveName('old.test', never, servers), ['93.184.216.34', '10.0.0.5']);
  assert.deepEqual(await resolveName('half.test', never, servers), ['93.184.216.34', '10.0.0.5']);
  assert.deepEqual(await resolveName('gone.test', never, servers), []);
  // No search domain is appended.
  assert.deepEqual([...new Set(names)], ['both.test', 'old.test', 'half.test', 'gone.test']);
});

test('a failing name server is not reported as an unknown name', async (t) => {
  const { servers } = await nameServer(t, () => SERVER_FAILED);
  await assert.rejects(
    resolveName('any.test', never, servers),
    (error) => error instanceof FetchFailed && error.kind === 'unresolved',
  );
});

test('an abort ends the wait for a silent name server', async (t) => {
  let questions = 0;
  const { servers, asked } = await nameServer(t, () => {
    questions += 1;
    return null;
  });
  const controller = new AbortController();
  const resolving = resolveName('silent.test', controller.signal, servers);
  resolving.catch(() => {});
  await asked;
  controller.abort(new Error('No longer wanted.'));
  await assert.rejects(resolving, /No longer wanted/);
  // Without the abort it would have sent two questions of each kind.
  assert.ok(questions < 4, `asked ${questions} times`);
});

test('finds names of the hosts file without a name server', async (t) => {
  const { servers } = await nameServer(t, () => assert.fail('asked'));
  const found = await resolveName('localhost', never, servers);
  assert.ok(found.length > 0);
  for (const address of found) assert.match(address, /^(127\.0\.0\.1|::1)$/);
});
