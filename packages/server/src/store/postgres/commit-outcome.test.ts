import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { migratedDatabase, postgresStore } from '@runwire/test-kit/test-store.ts';
import pg from 'pg';
import { missingService } from '../../../../../test/support/services.ts';
import { CommitUnknown, StoreUnavailable } from '../../domain/unavailable.ts';
import { CommitOutcomes, judgeCommit } from './commit-outcome.ts';

const EVIDENCE = { xid: '7', mark: { process: 'p', connection: 1, serial: 1 } };

/** `AuthenticationOk` and `ReadyForQuery`: all that a server has to send to accept a connection. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

test('gives up after its time limit if the database never answers', async () => {
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
  // The answer alone may take 8 s.
  assert.ok(performance.now() - startedAt < 5000, `${performance.now() - startedAt} ms`);
  assert.ok(unknown instanceof CommitUnknown);
  assert.ok(sockets.size > 0, 'a connection was accepted');
  outcomes[Symbol.dispose]();
  isOver = true;
  for (const socket of sockets) socket.destroy();
  assert.equal(await unknown.happened, false);
  server.close();
});

/** Makes a database with our tables, transactions that write a mark, and a judge with this limit. */
async function staged(lookForMs: number) {
  const stack = new AsyncDisposableStack();
  const { url } = stack.use(await migratedDatabase());
  await (await postgresStore(url))[Symbol.asyncDispose]();
  const outcomes = stack.use(new CommitOutcomes({ url, pool: 1, pooled: false }, judgeCommit, lookForMs));
  let connections = 0;
  const begin = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    stack.defer(() => client.end());
    connections += 1;
    const mark = { process: 'p', connection: connections, serial: 1 };
    await client.query('begin');
    const { rows } = await client.query('select pg_current_xact_id()::text as xid');
    await client.query('insert into commit_marks values ($1, $2, $3, 1)', Object.values(mark));
    return { client, evidence: { mark, xid: String(rows[0].xid) } };
  };
  const lost = new Error('Connection terminated');
  const settle = (evidence: Parameters<CommitOutcomes['settle']>[0]) =>
    outcomes.settle(evidence, lost).then(
      () => 'committed',
      (error: unknown) => error,
    );
  return { begin, settle, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const isLost = (outcome: unknown) => outcome instanceof StoreUnavailable && !(outcome instanceof CommitUnknown);
const skip = (await missingService('postgres')) ?? false;

test('judges by the mark, not by the transaction that has the id now', { skip }, async () => {
  await using stage = await staged(60_000);
  const { client, evidence } = await stage.begin();
  await client.query('commit');
  assert.equal(await stage.settle(evidence), 'committed');
  // Without the mark: another transaction has the id and is committed, or no transaction has it yet.
  const forgotten = { ...evidence, mark: { ...evidence.mark, serial: 2 } };
  assert.ok(isLost(await stage.settle(forgotten)));
  assert.ok(isLost(await stage.settle({ ...forgotten, xid: String(2 ** 40) })));
  // With the mark: another transaction has the id and is in progress.
  const other = await stage.begin();
  assert.equal(await stage.settle({ ...evidence, xid: other.evidence.xid }), 'committed');
});

test('a transaction in progress is unknown until it ends', { skip }, async () => {
  await using stage = await staged(300);
  for (const end of ['commit', 'rollback']) {
    const { client, evidence } = await stage.begin();
    const unknown = await stage.settle(evidence);
    assert.ok(unknown instanceof CommitUnknown, String(unknown));
    await client.query(end);
    assert.equal(await unknown.happened, end === 'commit');
  }
});
