import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { storeConformance, USAGE_HOUR } from '@runwire/test-kit/store-conformance.ts';
import { testChatKey, testRunId } from '@runwire/test-kit/test-ids.ts';
import { embeddedStore } from '@runwire/test-kit/test-store.ts';
import { Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { newIntegrationId } from '../../domain/ids.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import type { UploadPoint, WaitPoint } from '../../domain/wait-points.ts';
import { migrate } from '../migrate.ts';
import * as first from '../migrations/0001-first.ts';
import { insertMember, memberById, memberState } from '../queries/accounts.ts';
import { attachmentsOfRun } from '../queries/attachments.ts';
import { eraseEvents } from '../queries/erasures.ts';
import { insertChunk } from '../queries/eventlog.ts';
import { memberSizes } from '../queries/member-list.ts';
import { raw } from '../queries/raw.ts';
import { compactionPosition } from '../queries/retention.ts';
import { raiseUsageHour } from '../queries/rollups.ts';
import type { Schema } from '../schema.ts';
import type { Tx } from '../store.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { sqliteDialect } from './dialect.ts';
import { SqliteStore } from './sqlite-store.ts';

const MEBIBYTE = 1024 * 1024;

const onFatal = (error: unknown) => {
  throw error;
};

storeConformance('sqlite', async () => {
  const folder = temporaryFolder();
  return {
    open: () => SqliteStore.open({ path: join(folder, 'test.db'), migrate: true, waitAt: undefined, onFatal }),
    cleanUp: async () => rmSync(folder, { recursive: true }),
  };
});

test('transactions of one turn share one commit, and each passes its wait points', async () => {
  const folder = temporaryFolder();
  const points: (UploadPoint | WaitPoint)[] = [];
  const options = {
    path: join(folder, 'test.db'),
    migrate: true,
    waitAt: (point: UploadPoint | WaitPoint) => points.push(point),
    onFatal,
  };
  await using store = await SqliteStore.open(options);
  await Promise.all(
    [1, 2].map((id) =>
      store.transact('flush', (tx) =>
        tx.run(insertChunk, { run_id: testRunId('r'), first_id: id, last_id: id, data: '' }),
      ),
    ),
  );
  assert.deepEqual(points, ['flush.before-commit', 'flush.before-commit', 'flush.after-commit', 'flush.after-commit']);
  rmSync(folder, { recursive: true });
});

test('ends that commit together raise a row of the rollups once', async () => {
  const folder = temporaryFolder();
  await using store = await SqliteStore.open({
    ...{ path: join(folder, 'test.db'), migrate: true, waitAt: undefined, onFatal },
  });
  await store.transact('account', async (tx) => {
    await execute(tx, 'create table raised (runs integer)');
    for (const change of ['insert', 'update'])
      await execute(
        tx,
        `create trigger on_${change} after ${change} on usage_hours begin insert into raised values (new.runs); end`,
      );
  });
  const end = () => store.transact('end', (tx) => tx.run(raiseUsageHour, USAGE_HOUR));
  await Promise.all([end(), end(), end()]);
  await end();
  const raised = await store.reads.query((db) => raw<{ runs: number }>(db, sql.raw('select runs from raised')));
  assert.deepEqual(
    raised.map(({ runs }) => runs),
    [3, 4],
  );
  rmSync(folder, { recursive: true });
});

/** Runs SQL on the connection that writes. */
const execute = (tx: Tx, text: string) => tx.query((db) => raw(db, sql.raw(text)));
const chunk = (runId: string, id: number, data = 'x') => ({
  run_id: testRunId(runId),
  first_id: id,
  last_id: id,
  data,
});

test('a full disk fails all concurrent writes; later all of them are stored', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'test.db');
  await using store = await SqliteStore.open({ path, migrate: true, waitAt: undefined, onFatal });
  const runs = async () =>
    (await store.reads.query((db) => db.selectFrom('event_chunks').select('run_id').orderBy('run_id'))).map(
      (row) => row.run_id,
    );
  const big = 'x'.repeat(1024 * 1024);
  const atOnce = (own: string) =>
    store.transact('end', async (tx) => {
      await execute(tx, 'pragma max_page_count = 1');
      await Promise.all([
        tx.run(insertChunk, chunk(`${own} before`, 1)),
        tx.run(insertChunk, chunk(`${own} big`, 1, big)),
        tx.run(insertChunk, chunk(`${own} after`, 1)),
        tx.run(insertChunk, chunk(`${own} last`, 1)),
      ]);
    });
  const write = (own: string) => store.transact('flush', (tx) => tx.run(insertChunk, chunk(own, 1)));
  const alone = await Promise.allSettled([atOnce('alone')]);
  const among = await Promise.allSettled([write('neighbour'), atOnce('among'), write('later')]);
  for (const { status, reason } of [...alone, ...among] as PromiseRejectedResult[]) {
    assert.equal(status, 'rejected');
    assert.ok(reason instanceof StoreUnavailable, String(reason));
  }
  assert.deepEqual(await runs(), []);
  await store.transact('account', (tx) => execute(tx, 'pragma max_page_count = 1000000'));
  await write('there is room');
  assert.deepEqual(await runs(), ['there is room']);
  rmSync(folder, { recursive: true });
});

test('a refused write rolls back its own job and no other', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'test.db');
  await using store = await SqliteStore.open({ path, migrate: true, waitAt: undefined, onFatal });
  let statuses: string[] = [];
  const swallowing = (own: string) =>
    store.transact('step', async (tx) => {
      const writes = [own, null, `${own} after`].map((data) =>
        tx.run(insertChunk, { ...chunk('r', 1), run_id: testRunId(`${own} ${data}`), data: data as string }),
      );
      statuses = (await Promise.allSettled(writes)).map(({ status }) => status);
      throw new Error('no');
    });
  const results = await Promise.allSettled([
    store.transact('flush', (tx) => tx.run(insertChunk, chunk('a', 1))),
    swallowing('b'),
    store.transact('flush', (tx) => tx.run(insertChunk, chunk('c', 1))),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(statuses, ['fulfilled', 'rejected', 'rejected']);
  const rows = await store.reads.query((db) => db.selectFrom('event_chunks').select('run_id').orderBy('run_id'));
  assert.deepEqual(
    rows.map((row) => row.run_id),
    ['a', 'c'],
  );
  rmSync(folder, { recursive: true });
});

test('a job that cannot be rolled back fails its commit, and the next one works', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'test.db');
  await using store = await SqliteStore.open({ path, migrate: true, waitAt: undefined, onFatal });
  const write = (own: string) => store.transact('flush', (tx) => tx.run(insertChunk, chunk(own, 1)));
  const results = await Promise.allSettled([
    write('a'),
    store.transact('step', async (tx) => {
      await tx.run(insertChunk, chunk('b', 1));
      // The savepoint is gone, so the job cannot be rolled back.
      await execute(tx, 'release job');
      throw new Error('no');
    }),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await write('c');
  await Promise.all([write('d'), write('e')]);
  const rows = await store.reads.query((db) => db.selectFrom('event_chunks').select('run_id').orderBy('run_id'));
  assert.deepEqual(
    rows.map((row) => row.run_id),
    ['c', 'd', 'e'],
  );
  rmSync(folder, { recursive: true });
});

test('the write-ahead log is checkpointed while the store is open', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'test.db');
  await using store = await SqliteStore.open({ path, migrate: true, waitAt: undefined, onFatal });
  const data = 'x'.repeat(64 * 1024);
  let last = 0;
  const write = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      last += 1;
      const chunk = { run_id: testRunId('r'), first_id: last, last_id: last, data };
      await store.transact('flush', (tx) => tx.run(insertChunk, chunk));
    }
  };
  const isWrittenAgain = () => statSync(`${path}-wal`).size < (last / 2) * data.length;
  // The checkpoints are made by a thread, which a busy machine delays.
  do await write(500);
  while (!isWrittenAgain() && last < 10_000);
  assert.ok(statSync(path).size >= 100 * data.length, 'the database itself holds what the log held');
  assert.ok(isWrittenAgain(), 'the log was written from its start again');
  rmSync(folder, { recursive: true });
});

test('refuses a database of a newer version in one sentence', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'test.db');
  await (await SqliteStore.open({ path, migrate: true, waitAt: undefined, onFatal }))[Symbol.asyncDispose]();
  const database = new DatabaseSync(path);
  database.exec(`insert into kysely_migration (name, timestamp) values ('9999-future', '2030-01-01')`);
  database.close();
  await assert.rejects(
    SqliteStore.open({ path, migrate: true, waitAt: undefined, onFatal }),
    /newer version of Runwire/,
  );
  rmSync(folder, { recursive: true });
});

test('a data folder is locked by one process at a time', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'lock.db');
  const held = lockDataFolder(path);
  assert.throws(() => lockDataFolder(path), /Another Runwire server uses this data folder/);
  held[Symbol.dispose]();
  lockDataFolder(path)[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

test('a database of the first version is migrated and keeps its rows', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'test.db');
  const open = () => SqliteStore.open({ path, migrate: true, waitAt: undefined, onFatal });
  const database = new DatabaseSync(path);
  const firstVersion = { '0001-first': { up: (db: Kysely<unknown>) => first.up(db, 'sqlite') } };
  const migrator = new Migrator({
    db: new Kysely<unknown>({ dialect: sqliteDialect(database) }),
    provider: { getMigrations: async () => firstVersion },
  });
  assert.equal((await migrator.migrateToLatest()).error, undefined);
  database.exec(`insert into event_chunks (run_id, first_id, last_id, data) values ('r', 1, 1, 'kept')`);
  const member = { integration_id: newIntegrationId('i'), consumer_id: 'c', sort_key: 's', name_json: null, active: 1 };
  const rest = { metadata_json: '{"kept":1}', own_limit: 5, created_at: 1, updated_at: 2 };
  database
    .prepare(`insert into members values (${Object.keys({ ...member, ...rest }).map(() => '?')})`)
    .run(...Object.values({ ...member, ...rest }));
  assert.throws(() => database.prepare('select rowid from event_chunks'), /no such column/);
  database.close();
  await using store = await open();
  assert.deepEqual(await store.reads.all(compactionPosition, {}), []);
  assert.deepEqual(await store.reads.all(attachmentsOfRun, { chatKey: testChatKey('c'), runId: testRunId('r') }), []);
  const rows = await store.reads.query((db) => db.selectFrom('event_chunks').select('data'));
  assert.deepEqual(
    rows.map((row) => row.data),
    ['kept'],
  );
  const members = await store.reads.all(memberById, { integrationId: newIntegrationId('i'), consumerId: 'c' });
  assert.deepEqual({ ...members[0] }, { ...member, ...rest });
  const migrated = new DatabaseSync(path);
  assert.equal(migrated.prepare('select rowid from event_chunks').all().length, 1);
  migrated.close();
  const again = { run_id: testRunId('r'), first_id: 1, last_id: 1, data: 'told again' };
  assert.equal(await store.transact('flush', (tx) => tx.run(insertChunk, again)), 0);
  rmSync(folder, { recursive: true });
});

test('a migration finds the run whose questions are open', async () => {
  const database = new DatabaseSync(':memory:');
  const db = new Kysely<Schema>({ dialect: sqliteDialect(database) });
  await migrate(db, 'sqlite', { upTo: '0027-chosen-chat-ids' });
  const insert = database.prepare(`insert into chats (chat_key, integration_id, chat_id, num_messages, text_bytes,
    questions_json, created_at, updated_at) values (?, 'i', ?, 1, 1, ?, 1, 1)`);
  insert.run('asked', 'asked', '{"runId":"r1","agent":"A","questions":[{"questionId":"q1","callId":"\\u0000"}]}');
  insert.run('silent', 'silent', null);
  await migrate(db, 'sqlite');
  const rows = database.prepare('select chat_key, asking_run_id from chats order by chat_key').all();
  assert.deepEqual(rows.map(Object.values), [
    ['asked', 'r1'],
    ['silent', null],
  ]);
  const questions = database.prepare('select question_id, settled_at from asked_questions').all();
  assert.deepEqual(questions.map(Object.values), [['q1', null]]);
  database.close();
});

/** Returns how many bytes the work read from files. Linux counts them for each thread. */
async function bytesRead(work: () => Promise<unknown>): Promise<number> {
  const read = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/thread-self/io', 'utf8'))?.[1]);
  const before = read();
  await work();
  return read() - before;
}

test('a lookup of a member reads no large metadata', { skip: process.platform !== 'linux' }, async () => {
  const folder = temporaryFolder();
  await using store = await embeddedStore(folder);
  const metadataJson = JSON.stringify({ note: 'x'.repeat(MEBIBYTE) });
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const values = {
    integration_id: newIntegrationId('i'),
    name_json: null,
    active: 1,
    metadata_json: metadataJson,
    own_limit: null,
    updated_at: 1,
  };
  await store.transact('account', async (tx) => {
    for (const id of ids) await tx.run(insertMember, { ...values, consumer_id: id, sort_key: id });
    await tx.run(insertMember, { ...values, consumer_id: 'small', sort_key: 'small', metadata_json: '{}' });
  });
  const all = { integrationId: newIntegrationId('i'), start: null, before: null, limit: 50 };
  const lookups = {
    small: () => store.reads.all(memberById, { integrationId: newIntegrationId('i'), consumerId: 'small' }),
    state: () => store.reads.all(memberState, { integrationId: newIntegrationId('i'), consumerId: 'd' }),
    sizes: () => store.reads.query(memberSizes(all)),
    search: () => store.reads.query(memberSizes({ ...all, start: 's' })),
  };
  for (const [name, lookUp] of Object.entries(lookups)) {
    const bytes = await bytesRead(lookUp);
    assert.ok(bytes < MEBIBYTE / 2, `${name} read ${bytes} bytes`);
  }
  rmSync(folder, { recursive: true });
});

test('a scrub leaves no byte of a deleted row, and transactions wait for it', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'test.db');
  await using store = await SqliteStore.open({ path, migrate: true, waitAt: undefined, onFatal });
  const put = (runId: string, text: string) =>
    store.transact('flush', async (tx) => {
      for (let id = 1; id <= 300; id += 1) {
        await tx.run(insertChunk, {
          run_id: testRunId(runId),
          first_id: id,
          last_id: id,
          data: `${text} ${id}`.repeat(id % 40),
        });
      }
    });
  const isStored = (text: string) =>
    [path, `${path}-wal`].some((file) => statSync(file).size > 0 && readFileSync(file).includes(text));
  await Promise.all([put('kept', 'KeptText'), put('gone', 'GoneText')]);
  await store.transact('erasure', (tx) => tx.run(eraseEvents, { runId: testRunId('gone') }));
  assert.equal(isStored('GoneText'), true);
  const order: string[] = [];
  const scrubs = [store.scrub('log'), store.scrub('file')].map((scrub) => scrub.then(() => order.push('scrubbed')));
  await Promise.all([...scrubs, put('later', 'LaterText').then(() => order.push('stored'))]);
  assert.deepEqual(order, ['scrubbed', 'scrubbed', 'stored']);
  assert.deepEqual([isStored('GoneText'), isStored('KeptText'), isStored('LaterText')], [false, true, true]);
  rmSync(folder, { recursive: true });
});
