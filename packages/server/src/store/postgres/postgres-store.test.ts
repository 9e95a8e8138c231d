import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommitProxy } from '@runwire/test-kit/commit-proxy.ts';
import { until } from '@runwire/test-kit/shortfall.ts';
import { storeConformance } from '@runwire/test-kit/store-conformance.ts';
import { testChatId, testChatKey, testRunId } from '@runwire/test-kit/test-ids.ts';
import { freshDatabase, migratedDatabase } from '@runwire/test-kit/test-store.ts';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { missingService } from '../../../../../test/support/services.ts';
import { newIntegrationId } from '../../domain/ids.ts';
import { CommitUnknown, NodeFenced, StoreUnavailable } from '../../domain/unavailable.ts';
import type { UploadPoint, WaitPoint } from '../../domain/wait-points.ts';
import { GENERATION } from '../generation.ts';
import { migrate } from '../migrate.ts';
import { insertMember } from '../queries/accounts.ts';
import { insertChat } from '../queries/admission.ts';
import { raiseUsageDay } from '../queries/allowance.ts';
import { insertChunk, lastStoredId } from '../queries/eventlog.ts';
import { lockMember } from '../queries/locks.ts';
import { fenceNode, insertHeartbeat, insertNode } from '../queries/nodes.ts';
import type { Schema } from '../schema.ts';
import { first, ORDERED_TRANSACTIONS, type Tx } from '../store.ts';
import { type NodeIdentity, ThisNode } from '../this-node.ts';
import { ConnectionLost } from './errors.ts';
import { PostgresStore, type PostgresStoreOptions } from './postgres-store.ts';
import { ignoreErrorEvents } from './settings.ts';

const integrationId = newIntegrationId('i');

const missing = await missingService('postgres');
const skip = missing ?? false;

const open = (url: string, options: Partial<PostgresStoreOptions> = {}) =>
  PostgresStore.open({ url, pool: 4, pooled: false, migrate: true, waitAt: undefined, ...options });
const chunk = (runId: string, id: number) => ({ run_id: testRunId(runId), first_id: id, last_id: id, data: 'x' });
const findLast = async (store: PostgresStore, runId: string) =>
  (await first(store.reads.all(lastStoredId, { runId: testRunId(runId) })))?.last_id ?? null;
const member = (consumerId: string) => ({
  integration_id: integrationId,
  consumer_id: consumerId,
  sort_key: consumerId,
  name_json: null,
  active: 1,
  metadata_json: '{}',
  own_limit: null,
  updated_at: 1,
});

if (missing === null) {
  for (const pooled of [false, true]) {
    storeConformance(pooled ? 'postgres without prepared statements' : 'postgres', async () => {
      const database = await migratedDatabase();
      return { open: () => open(database.url, { pooled }), cleanUp: () => database[Symbol.asyncDispose]() };
    });
  }
} else test('postgres: the promises of a store', { skip }, () => {});

test('transactions of one turn share one commit, and each passes its wait points', { skip }, async () => {
  await using database = await migratedDatabase();
  const points: (UploadPoint | WaitPoint)[] = [];
  await using store = await open(database.url, { waitAt: (point) => points.push(point) });
  await Promise.all([1, 2].map((id) => store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', id)))));
  assert.deepEqual(points, ['flush.before-commit', 'flush.before-commit', 'flush.after-commit', 'flush.after-commit']);
  const rows = await store.reads.query((db) =>
    db.selectFrom('event_chunks').select((eb) => eb.ref('first_id').as('id')),
  );
  assert.equal(rows.length, 2);
});

test('a commit that is too large is repeated in smaller ones, which grow again', { skip }, async () => {
  await using database = await migratedDatabase();
  await using store = await open(database.url);
  // Jobs of one commit get the same transaction.
  const sizes = async (jobs: number) => {
    const of = new Map<unknown, number>();
    const count = async (tx: unknown) => void of.set(tx, (of.get(tx) ?? 0) + 1);
    await Promise.all(Array.from({ length: jobs }, () => store.transact('flush', count)));
    return [...of.values()];
  };
  assert.deepEqual(await sizes(16), [16]);
  const tooMuch = Array.from({ length: 16 }, () =>
    store.transact('flush', async () => {
      throw new ConnectionLost('not done in time');
    }),
  );
  for (const outcome of await Promise.allSettled(tooMuch)) assert.equal(outcome.status, 'rejected');
  assert.deepEqual(await sizes(32), [8, 16, 8]);
  assert.deepEqual(await sizes(64), [64]);
});

test('a job that is still running when its commit fails is rolled back too', { skip }, async () => {
  await using database = await migratedDatabase();
  await using store = await open(database.url);
  const refused = new Error('refused');
  let tries = 0;
  const bad = store.transact('flush', async () => {
    throw refused;
  });
  const good = store.transact('flush', async (tx) => {
    tries += 1;
    await tx.all(lastStoredId, { runId: testRunId('r') });
    // Runs after the other job has failed. Each attempt writes another row, so an extra attempt would be visible.
    await tx.run(insertChunk, chunk('r', tries));
  });
  await assert.rejects(bad, refused);
  await good;
  const rows = await store.reads.query((db) => db.selectFrom('event_chunks').select('last_id'));
  assert.deepEqual([tries, rows], [2, [{ last_id: 2 }]]);
});

test('an admission that waits for a lock does not hold up the writer', { skip }, async () => {
  await using database = await migratedDatabase();
  await using store = await open(database.url);
  await store.transact('account', (tx) => tx.run(insertMember, member('m')));
  const holds = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  const holder = store.transact('admit', async (tx) => {
    await tx.all(lockMember, { integrationId, consumerId: 'm' });
    holds.resolve();
    await letGo.promise;
  });
  await holds.promise;
  let waited = true;
  const waiter = store.transact('admit', async (tx) => {
    await tx.all(lockMember, { integrationId, consumerId: 'm' });
    waited = false;
  });
  await store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', 1)));
  assert.equal(await findLast(store, 'r'), 1);
  assert.equal(waited, true, 'the other is still waiting');
  letGo.resolve();
  await Promise.all([holder, waiter]);
  assert.equal(waited, false);
});

test('a wait for a lock ends as an unavailable store', { skip }, async () => {
  await using database = await migratedDatabase();
  await using store = await open(database.url);
  await store.transact('account', (tx) => tx.run(insertMember, member('m')));
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query(`begin; select * from members for update`);
  await assert.rejects(
    store.transact('admit', (tx) => tx.all(lockMember, { integrationId, consumerId: 'm' })),
    StoreUnavailable,
  );
  await other.end();
});

test('a deadlock is solved by repeating one of the two transactions', { skip }, async () => {
  await using database = await migratedDatabase();
  await using store = await open(database.url);
  for (const id of ['a', 'b']) await store.transact('account', (tx) => tx.run(insertMember, member(id)));
  let calls = 0;
  const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const crossed = (mine: string, others: string, index: number) =>
    store.transact('account', async (tx) => {
      calls += 1;
      await tx.all(lockMember, { integrationId, consumerId: mine });
      both[index]?.resolve();
      await both[1 - index]?.promise;
      await tx.all(lockMember, { integrationId, consumerId: others });
    });
  await Promise.all([crossed('a', 'b', 0), crossed('b', 'a', 1)]);
  // Three calls, or more if the repeated transaction reaches the row before the transaction that had waited for it.
  assert.ok(calls >= 3, `one of the two came twice: ${calls}`);
});

test('a migration that deadlocks with a node of an earlier version is repeated', { skip }, async () => {
  await using database = await freshDatabase();
  await using stack = new AsyncDisposableStack();
  const earlier = stack.adopt(new pg.Pool({ connectionString: database.url }), (pool) => pool.end());
  ignoreErrorEvents(earlier);
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: earlier }) });
  await migrate(db, 'postgres', { upTo: '0016-erasures' });
  // The migration looks for a deadlock earlier than the node, so the migration is rolled back.
  await earlier.query(`alter database "${new URL(database.url).pathname.slice(1)}" set deadlock_timeout = '5s'`);
  const node = await earlier.connect();
  await node.query(`begin; set local deadlock_timeout = '60s'; lock table runs in row share mode`);
  const opened = open(database.url);
  const waits = `select 1 from pg_locks where not granted and relation = 'runs'::regclass`;
  await until('the migration waits', async () => (await earlier.query(waits)).rows.length > 0);
  await node.query('lock table chats in row share mode; commit');
  node.release();
  const store = stack.use(await opened);
  assert.equal((await store.reads.query((tables) => tables.selectFrom('chats').select('questions_json'))).length, 0);
  assert.ok((await deadlocks(database.url)) > 0);
});

test('two nodes that write the same day totals in crossed order do not deadlock', { skip }, async () => {
  await using database = await migratedDatabase();
  await using one = await open(database.url);
  await using other = await open(database.url);
  const end = (store: PostgresStore, consumerId: string) =>
    store.transact('end', (tx) =>
      tx.run(raiseUsageDay, {
        integrationId,
        consumerId,
        day: 1,
        runs: 1,
        tokens: 1,
        credits: 0,
        creditMillionths: 0,
      }),
    );
  const before = await deadlocks(database.url);
  const members = Array.from({ length: 20 }, (_, index) => `m${index}`);
  for (let round = 0; round < 10; round += 1) {
    await Promise.all([...members.map((id) => end(one, id)), ...members.toReversed().map((id) => end(other, id))]);
  }
  const rows = await one.reads.query((db) => db.selectFrom('usage_days').select('runs'));
  assert.deepEqual([...new Set(rows.map((row) => row.runs))], [20]);
  assert.equal(await deadlocks(database.url), before);
});

async function deadlocks(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query('select deadlocks from pg_stat_database where datname = current_database()');
  await client.end();
  return Number(rows[0].deadlocks);
}

test('refuses a database of a newer version in one sentence', { skip }, async () => {
  await using database = await freshDatabase();
  await (await open(database.url))[Symbol.asyncDispose]();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`insert into kysely_migration (name, timestamp) values ('9999-future', '2030-01-01')`);
  await client.end();
  await assert.rejects(open(database.url), /newer version of Runwire/);
});

test('leaves a migration table of another program in another schema alone', { skip }, async () => {
  await using database = await freshDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `create schema other; create table other.kysely_migration (name text, timestamp text);
     insert into other.kysely_migration values ('2020-theirs', '')`,
  );
  await client.end();
  await (await open(database.url))[Symbol.asyncDispose]();
});

test('several stores that open an empty database concurrently migrate it once', { skip }, async () => {
  await using database = await freshDatabase();
  const stores = await Promise.all([1, 2, 3, 4].map(() => open(database.url)));
  for (const [index, store] of stores.entries()) {
    await store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', index + 1)));
    await store[Symbol.asyncDispose]();
  }
});

test('every connection limits idle transactions, lock waits, long statements and silence', {
  skip,
}, async () => {
  await using database = await migratedDatabase();
  for (const pooled of [false, true]) {
    await using store = await open(database.url, { pooled });
    for (const name of ['flush', 'admit'] as const) {
      const settings = await store.transact(name, (tx) =>
        tx.query((db) =>
          db
            .selectFrom('pg_settings' as never)
            .select(['name' as never, 'setting' as never])
            .where('name' as never, 'in', [
              'idle_in_transaction_session_timeout',
              'lock_timeout',
              'statement_timeout',
              // The session of a pooler is not ours.
              ...(pooled ? [] : ['tcp_keepalives_idle']),
            ] as never)
            .orderBy('name' as never),
        ),
      );
      assert.deepEqual(
        settings.map((row) => (row as { setting: string }).setting),
        ['3000', '2000', '5000', ...(pooled ? [] : ['15'])],
      );
    }
  }
});

test('another connection finds the outcome of a commit whose answer is lost', { skip }, async () => {
  await using database = await migratedDatabase();
  const { port } = new URL(database.url);
  await using proxy = await CommitProxy.start(Number(port));
  const url = database.url.replace(`:${port}`, `:${proxy.port}`);
  await using store = await open(url);
  for (const [index, name] of (['admit', 'flush'] as const).entries()) {
    proxy.swallow(1, 'insert event_chunks', false);
    await store.transact(name, (tx) => tx.run(insertChunk, chunk('r', index + 1)));
    assert.equal(proxy.swallowed, index + 1);
    assert.equal(await findLast(store, 'r'), index + 1);
  }
});

test('a commit that never reached the database is lost', { skip }, async () => {
  await using database = await migratedDatabase();
  const { port } = new URL(database.url);
  await using proxy = await CommitProxy.start(Number(port));
  await using store = await open(database.url.replace(`:${port}`, `:${proxy.port}`));
  const values = { node_id: 'n', boot: 'b', dead: 0, version: '1', started_at: 1, generation: GENERATION };
  const writes: ((tx: Tx) => Promise<unknown>)[] = [
    (tx) => tx.run(insertNode, { node_id: 'n', boot: 'b', version: '1', started_at: 1, host: 'h', address: null }),
    // Returns rows, so it is sent like a read.
    (tx) => tx.query((db) => db.insertInto('nodes').values(values).returning('node_id')),
  ];
  for (const name of ['admit', 'flush'] as const) {
    for (const write of writes) {
      const cut = proxy.interrupt({
        matches: (text) => text.includes('nodes'),
        moment: 'before',
        crash: async () => {},
      });
      await assert.rejects(
        store.transact(name, write),
        (error) => error instanceof StoreUnavailable && !(error instanceof CommitUnknown),
      );
      await cut;
    }
  }
  assert.deepEqual(await store.reads.query((db) => db.selectFrom('nodes').select('node_id')), []);
});

test('an unanswered commit is unknown until the database can be reached again', { skip }, async () => {
  await using database = await migratedDatabase();
  const { port } = new URL(database.url);
  await using proxy = await CommitProxy.start(Number(port));
  const url = database.url.replace(`:${port}`, `:${proxy.port}`);
  await using store = await open(url);
  proxy.swallow(1, 'insert chats', true);
  const size = { num_messages: 0, text_bytes: 0, created_at: 1 };
  const row = { integration_id: integrationId, alias: null, consumer_id: null, ...size };
  const unknown = await store
    .transact('admit', (tx) => tx.run(insertChat, { ...row, chat_key: testChatKey('k'), chat_id: testChatId('c') }))
    .catch((error: unknown) => error);
  assert.ok(unknown instanceof CommitUnknown, String(unknown));
  await assert.rejects(
    store.transact('admit', (tx) =>
      tx.run(insertChat, { ...row, chat_key: testChatKey('l'), chat_id: testChatId('d') }),
    ),
    (error) => error instanceof StoreUnavailable && !(error instanceof CommitUnknown),
  );
  proxy.unblock();
  assert.equal(await unknown.happened, true);
});

const FENCED = ['admit', 'attachment', 'flush', 'step', 'end', 'cancel', 'takeover', 'sweep'] as const;

/** Opens the store of a registered node and records the reported fences. */
async function openNode(url: string) {
  const node = new ThisNode();
  const fenced: NodeIdentity[] = [];
  const store = await open(url, {
    node,
    onFenced: (identity) => {
      fenced.push(identity);
      node.lost();
    },
  });
  const register = async (nodeId: string) => {
    await store.transact('account', async (tx) => {
      await tx.run(insertNode, { node_id: nodeId, boot: 'b', version: '1', started_at: 1, host: 'h', address: null });
      await tx.run(insertHeartbeat, { node_id: nodeId, seen_at: 1 });
    });
    node.registered({ nodeId, boot: 'b' });
  };
  const fence = () => store.transact('account', (tx) => tx.run(fenceNode, { nodeId: node.nodeId, beat: 1 }));
  return { node, store, fenced, register, fence, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

test('a fenced node writes only accounts and learns of it before its callers', {
  skip,
}, async () => {
  await using database = await migratedDatabase();
  for (const pooled of [false, true]) {
    for (const [index, name] of FENCED.entries()) {
      await using it = await openNode(database.url);
      await it.register(`${name}${pooled}`);
      const identity = it.node.identity;
      await it.store.transact(name, (tx) => tx.run(insertChunk, chunk(name, 2 * index + 1)));
      assert.equal(await it.fence(), 1);
      let told = 0;
      await it.store
        .transact(name, (tx) => tx.run(insertChunk, chunk(name, 2 * index + 2)))
        .then(
          () => assert.fail(`${name} was written`),
          (error) => {
            assert.ok(error instanceof NodeFenced, String(error));
            told = it.fenced.length;
          },
        );
      assert.equal(told, 1);
      assert.deepEqual(it.fenced, [identity]);
      assert.equal(await findLast(it.store, name), 2 * index + 1);
      await it.store.transact('account', (tx) => tx.run(insertMember, member(name)));
    }
  }
});

test('a fence waits for the open transactions of its node', { skip }, async () => {
  await using database = await migratedDatabase();
  for (const name of FENCED) {
    await using it = await openNode(database.url);
    await it.register(name);
    const letGo = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const writing = it.store.transact(name, async (tx) => {
      await tx.run(insertChunk, chunk(name, 1));
      begun.resolve();
      await letGo.promise;
    });
    await begun.promise;
    const fenced = it.fence();
    await waitsForLock(database.url);
    letGo.resolve();
    await fenced;
    assert.equal(await findLast(it.store, name), 1, 'there once the fence is');
    await writing;
  }
});

/** Waits until a connection waits for a lock. */
async function waitsForLock(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      if (rows.length > 0) return;
    }
  } finally {
    await client.end();
  }
}

test('work of one identity is never written under the next one', { skip }, async () => {
  await using database = await migratedDatabase();
  await using it = await openNode(database.url);
  await it.register('first');
  const letGo = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const holder = it.store.transact('flush', () => {
    begun.resolve();
    return letGo.promise;
  });
  await begun.promise;
  let ran = 0;
  const late = [...ORDERED_TRANSACTIONS].map((name) =>
    it.store
      .transact(name, async () => {
        ran += 1;
      })
      .catch((error: unknown) => error),
  );
  await it.register('second');
  const own = it.store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', 1)));
  letGo.resolve();
  await holder;
  for (const error of await Promise.all(late)) assert.ok(error instanceof NodeFenced, String(error));
  assert.equal(ran, 0);
  await own;
  assert.equal(await findLast(it.store, 'r'), 1);
  assert.deepEqual(it.fenced, []);
});

test('without an identity the store accepts only changes of accounts', { skip }, async () => {
  await using database = await migratedDatabase();
  await using it = await openNode(database.url);
  for (const name of FENCED)
    await assert.rejects(
      it.store.transact(name, async () => {}),
      NodeFenced,
    );
  await it.register('n');
  await it.store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', 1)));
});

test('a busy pool does not delay a fence', { skip }, async () => {
  await using database = await migratedDatabase();
  await using store = await open(database.url, { pool: 1 });
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const busy = store.transact('account', async (tx) => {
    await tx.run(insertNode, { node_id: 'n', boot: 'b', version: '1', started_at: 1, host: 'h', address: null });
    begun.resolve();
    await goOn.promise;
  });
  await begun.promise;
  // Its row is not locked: only a busy connection could delay the fence.
  assert.equal(await store.transact('lease', (tx) => tx.run(fenceNode, { nodeId: 'other', beat: 1 })), 0);
  goOn.resolve();
  await busy;
});
