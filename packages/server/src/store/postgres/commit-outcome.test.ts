import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { CommitUnknown } from '../../domain/unavailable.ts';
import { CommitOutcomes, judgeCommit } from './commit-outcome.ts';

const EVIDENCE = { xid: '7', mark: { process: 'p', connection: 1, serial: 1 } };

/** `AuthenticationOk` and `ReadyForQuery`: all that a server has to send to accept a connection. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

test('whoever waits for a lost commit waits no longer than was meant, also where the database lets in and is silent', async () => {
  const sockets = new Set<Socket>();
  let isOver = false;
  const server = createServer((socket) => {
    if (isOver) socket.destroy();
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => socket.write(WELCOME));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  using outcomes = new CommitOutcomes(
    { url: `postgres://u@127.0.0.1:${port}/d`, pool: 1, pooled: false },
    judgeCommit,
    200,
  );
  const startedAt = performance.now();
  const unknown = await outcomes.settle(EVIDENCE, new Error('Connection terminated')).catch((error: unknown) => error);
  // The answer alone is given 8 s.
  assert.ok(performance.now() - startedAt < 5000, `${performance.now() - startedAt} ms`);
  assert.ok(unknown instanceof CommitUnknown);
  assert.ok(sockets.size > 0, 'somebody was let in');
  outcomes[Symbol.dispose]();
  isOver = true;
  for (const socket of sockets) socket.destroy();
  assert.equal(await unknown.happened, false);
  server.close();
});
