import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertRun } from '@runwire/test-kit/insert-run.ts';
import { askDatabase } from '@runwire/test-kit/postgres-server.ts';
import { until } from '@runwire/test-kit/shortfall.ts';
import { testRunId } from '@runwire/test-kit/test-ids.ts';
import { freshDatabase, migratedDatabase, postgresStore } from '@runwire/test-kit/test-store.ts';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { DAY_MS, endFirstPartition, today } from '../../../../../test/support/old-partitions.ts';
import { missingService } from '../../../../../test/support/services.ts';
import { firstRunId } from '../../domain/ids.ts';
import { HOUR_MS } from '../../domain/time.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import { EventPartitions, isInDroppable, partitionsBefore } from '../../eventlog/event-partitions.ts';
import { withEventBound } from '../event-bound.ts';
import { migrate } from '../migrate.ts';
import { insertChunk } from '../queries/eventlog.ts';
import { eventPartitions } from '../queries/partitions.ts';
import { insertCompactedChunk } from '../queries/retention.ts';
import type { Schema } from '../schema.ts';
import type { Store } from '../store.ts';
import { PostgresSnapshot } from './postgres-snapshot.ts';
import { ignoreErrorEvents } from './settings.ts';

const skip = (await missingService('postgres')) ?? false;
/** The id of a run of the day so many days from now. */
const runOn = (days: number, name = 'r') => `${firstRunId(today + days * DAY_MS + HOUR_MS)}${name}`;
const chunk = (runId: string) => ({ run_id: testRunId(runId), first_id: 1, last_id: 9, data: `events of ${runId}` });

const store = (store: Store, runId: string) => store.transact('flush', (tx) => tx.run(insertChunk, chunk(runId)));
const compact = (store: Store, runId: string) =>
  store.transact('sweep', (tx) => tx.run(insertCompactedChunk, { ...chunk(runId), data: 'compacted' }));

/** Opens a database whose first partition ended `days` ago, so that the next one begins then. */
async function openOld(days: number) {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await migratedDatabase());
  const opened = stack.use(await postgresStore(database.url));
  await endFirstPartition(database.url, days);
  const ask = (text: string) => askDatabase(database.url, text);
  const holders = async () =>
    (await ask(`select tableoid::regclass::text as held_by from event_chunks order by run_id`)).map(
      (row) => row.held_by,
    );
  const partitions = new EventPartitions(opened, 7 * DAY_MS);
  return { ...database, store: opened, ask, holders, partitions, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const nameOn = (days: number) =>
  `event_chunks_${new Date(today + days * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;

async function waitsForLock(ask: (text: string) => Promise<unknown[]>): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await until('a transaction waits for a lock', async () => (await ask(waiting)).length > 0);
}

test('adds a partition per day and moves rows that had none', { skip }, async () => {
  await using it = await openOld(0);
  for (const days of [-1, 0, 1, 9]) await store(it.store, runOn(days));
  const other = 'event_chunks_other';
  assert.deepEqual(await it.holders(), ['event_chunks_earlier', other, other, other]);
  const [one, two] = await Promise.all([it.partitions.addMissing(), it.partitions.addMissing()]);
  assert.deepEqual(one, two, 'two nodes concurrently');
  assert.deepEqual(
    one.map(({ name }) => name),
    ['event_chunks_earlier', ...[0, 1, 2].map(nameOn)],
  );
  assert.deepEqual(await it.holders(), ['event_chunks_earlier', nameOn(0), nameOn(1), other]);
  assert.equal(isInDroppable(one, runOn(1)), true);
  assert.equal(isInDroppable(one, runOn(-1)), false);
  assert.deepEqual(
    partitionsBefore(one, today + 2 * DAY_MS).map(({ name }) => name),
    [nameOn(0), nameOn(1)],
  );
});

test('one partition has the time without nodes, and several days if events are kept for long', { skip }, async () => {
  await using it = await openOld(20);
  const all = await new EventPartitions(it.store, 30 * DAY_MS).addMissing();
  const bounds = all.slice(1).map(({ first_id, end_id }) => [first_id, end_id]);
  const id = (days: number) => firstRunId(today + days * DAY_MS);
  assert.deepEqual(bounds, [
    [id(-20), id(1)],
    [id(1), id(5)],
  ]);
});

test('a node whose clock is ahead adds no partition for the time until then', { skip }, async (t) => {
  await using it = await openOld(0);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 400 * DAY_MS });
  const all = await it.partitions.addMissing();
  assert.deepEqual(
    all.slice(1).map(({ name, end_id: end }) => [name, end]),
    [0, 1, 2].map((days) => [nameOn(days), firstRunId(today + (days + 1) * DAY_MS)]),
  );
});

test('an insert that lost its partition to a new one is repeated', { skip }, async () => {
  await using it = await openOld(0);
  const adding = new pg.Client({ connectionString: it.url });
  await adding.connect();
  await adding.query(
    `begin; lock table event_chunks_other in access exclusive mode; create table added (like event_chunks including all);
     alter table event_chunks attach partition added for values from ('${firstRunId(today)}') to ('${firstRunId(today + DAY_MS)}')`,
  );
  const stored = store(it.store, runOn(0));
  await waitsForLock(it.ask);
  await adding.query('commit');
  await adding.end();
  await stored;
  assert.deepEqual(await it.holders(), ['added']);
});

test('drops a partition only when every run in it has compacted events', { skip }, async () => {
  await using it = await openOld(1);
  const [, old] = await it.partitions.addMissing();
  assert.ok(old !== undefined);
  const runs = [runOn(-1, 'a'), runOn(-1, 'b')] as const;
  for (const runId of runs) await store(it.store, runId);
  await compact(it.store, runs[0]);
  assert.equal(await it.partitions.drop(old), false);
  assert.equal((await it.holders()).length, 2);
  await compact(it.store, runs[1]);

  const late = new pg.Client({ connectionString: it.url });
  await late.connect();
  await late.query(`begin; insert into event_chunks values ('${runOn(-1, 'late')}', 1, 1, 'late')`);
  await assert.rejects(it.partitions.drop(old), StoreUnavailable, 'an open transaction has added a row');
  await late.query('commit');
  assert.equal(await it.partitions.drop(old), false);
  assert.equal((await it.holders()).length, 3);
  await late.query(`delete from event_chunks where data = 'late'`);
  await late.end();

  assert.equal(await it.partitions.drop(old), true);
  assert.deepEqual(await it.holders(), []);
  assert.equal(await it.partitions.drop(old), false, 'another node has dropped it');
  await store(it.store, runOn(-1, 'afterwards'));
  assert.deepEqual(await it.holders(), ['event_chunks_other']);
});

test('keeps what a node of the version before compacted in a partition', { skip }, async () => {
  await using it = await openOld(1);
  const [, old] = await it.partitions.addMissing();
  assert.ok(old !== undefined);
  const runId = runOn(-1);
  await store(it.store, runId);
  await insertRun(it.store, runId, { status: 'completed', compacted_at: 1 });
  assert.equal(await it.partitions.drop(old), true);
  assert.deepEqual(await it.ask('select run_id, data from compacted_chunks'), [
    { run_id: runId, data: `events of ${runId}` },
  ]);
});

test('a copy of the database keeps the partitions that it has not read yet', { skip }, async () => {
  await using it = await openOld(1);
  const [, old] = await it.partitions.addMissing();
  assert.ok(old !== undefined);
  await store(it.store, runOn(-1));
  {
    await using snapshot = await PostgresSnapshot.open({ url: it.url, pool: 1, pooled: false });
    await compact(it.store, runOn(-1));
    await assert.rejects(it.partitions.drop(old), StoreUnavailable);
    const rows = await Array.fromAsync(snapshot.rows('event_chunks', ['run_id']));
    assert.deepEqual(rows.flat(), [[runOn(-1)]]);
  }
  assert.equal(await it.partitions.drop(old), true);
});

test('the table of the version before becomes the first partition', { skip }, async () => {
  for (const smallBytes of [0, 1_000_000]) {
    await using database = await freshDatabase();
    await using stack = new AsyncDisposableStack();
    const pool = stack.adopt(new pg.Pool({ connectionString: database.url }), (open) => open.end());
    ignoreErrorEvents(pool);
    const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
    await migrate(db, 'postgres', { upTo: '0023-members-by-row' });
    const earlier = await pool.connect();
    // A node of the version before, with a statement that it prepared before the migration.
    const insert = (runId: string) =>
      earlier.query({
        name: 'insert chunk',
        text: `insert into event_chunks (run_id, first_id, last_id, data) values ($1, $2, $3, $4)
          on conflict (run_id, first_id) do nothing`,
        values: [runId, 1, 9, 'x'],
      });
    await insert(runOn(-9));
    const failed = withEventBound(db, (addBound) => addBound().then(() => Promise.reject(new Error('stopped'))), 0);
    await assert.rejects(failed, /stopped/);
    assert.deepEqual((await pool.query(`select conname from pg_constraint where conname like '%bound'`)).rows, []);
    await withEventBound(db, (addBound) => migrate(db, 'postgres', { beforeMigrating: addBound }), smallBytes);
    for (const runId of [runOn(-9), runOn(0), 'run_of_no_time']) await insert(runId);
    earlier.release();
    const { rows } = await pool.query('select tableoid::regclass::text as held_by from event_chunks order by run_id');
    assert.deepEqual(
      rows.map((row) => row.held_by),
      ['event_chunks_earlier', 'event_chunks_earlier', 'event_chunks_other'],
    );
    await using opened = await postgresStore(database.url);
    const [first] = await eventPartitions(opened.reads);
    assert.equal(first?.end_id, firstRunId(today + (smallBytes === 0 ? 30 : 4) * DAY_MS));
  }
});
