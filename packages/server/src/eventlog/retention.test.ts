import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { insertRun } from '@runwire/test-kit/insert-run.ts';
import { askDatabase } from '@runwire/test-kit/postgres-server.ts';
import { until } from '@runwire/test-kit/shortfall.ts';
import { testRunId } from '@runwire/test-kit/test-ids.ts';
import {
  embeddedStore,
  migratedDatabase,
  postgresStore,
  STORES,
  type StoreName,
} from '@runwire/test-kit/test-store.ts';
import { DAY_MS, endFirstPartition, today } from '../../../../test/support/old-partitions.ts';
import { firstRunId, type RunId } from '../domain/ids.ts';
import type { RunEvent } from '../domain/run/events.ts';
import { HOUR_MS } from '../domain/time.ts';
import { noEarlierNodes } from '../store/earlier-nodes.ts';
import { eraseCompacted, eraseEvents } from '../store/queries/erasures.ts';
import { chunkAfter, insertChunk, lastStoredId } from '../store/queries/eventlog.ts';
import { compactionPosition } from '../store/queries/retention.ts';
import { first, type Store } from '../store/store.ts';
import { createLogger } from '../telemetry/logger.ts';
import { decodeChunk, encodeChunk } from './chunk-codec.ts';
import { Retention } from './retention.ts';

const LOG_MS = 7 * DAY_MS;
const item = {
  kind: 'message',
  id: 'msg_1',
  agent: 'A',
  callerAgent: null,
  outputIndex: 0,
  text: '',
  complete: true,
  timestamp: 1,
} as const;
const EVENTS: readonly RunEvent[] = [
  { type: 'delta', id: 1, item, text: 'One ' },
  { type: 'delta', id: 2, item, text: 'two.' },
  { type: 'end', id: 3 },
];

/** On PostgreSQL the runs of yesterday and today are in a partition that can be dropped. */
async function openStore(name: StoreName) {
  const stack = new AsyncDisposableStack();
  if (name === 'sqlite') {
    const folder = temporaryFolder();
    stack.defer(() => rmSync(folder, { recursive: true }));
    const store = stack.use(await embeddedStore(folder));
    return { store, url: '', [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }
  const database = stack.use(await migratedDatabase());
  await endFirstPartition(database.url, 30);
  const store = stack.use(await postgresStore(database.url));
  return { store, url: database.url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const retention = (store: Store, earlierNodes = noEarlierNodes, logMs = LOG_MS) =>
  new Retention(
    { store, earlierNodes, logger: createLogger('silent') },
    { logMs, sweepMs: 600_000, chunkBytes: 65_536 },
  );

const runFrom = (ms: number, name: string) => testRunId(`${firstRunId(ms)}${name}`);

async function addRun(store: Store, runId: RunId, endedAt: number | null, data = encodeChunk(EVENTS)): Promise<void> {
  await insertRun(store, runId, { status: endedAt === null ? 'running' : 'completed', completed_at: endedAt });
  await store.transact('flush', (tx) => tx.run(insertChunk, { run_id: runId, first_id: 1, last_id: 3, data }));
}

const end = (store: Store, runId: RunId, endedAt: number) =>
  store.transact('account', (tx) =>
    tx.query((db) =>
      db
        .updateTable('runs')
        .set({ status: 'completed', completed_at: endedAt })
        .where('run_id', '=', runId)
        .returning('run_id'),
    ),
  );

/** The stored events' ids: all, or the rest after compaction. Undefined if the run has none. */
async function eventIds(store: Store, runId: RunId): Promise<number[] | undefined> {
  const row = await first(store.reads.all(chunkAfter, { runId, after: 0 }));
  return row === undefined ? undefined : decodeChunk(row.first_id, row.data).events.map(({ id }) => id);
}

const WHOLE = [1, 2, 3];
const COMPACTED = [2, 3];

const tableRows = async (store: Store, table: 'event_chunks' | 'compacted_chunks' | 'skipped_runs') =>
  (await store.reads.query((db) => db.selectFrom(table).select('run_id').orderBy('run_id'))).map((row) => row.run_id);

for (const name of STORES) describe(name, () => tests(name));

function tests(name: StoreName): void {
  test('passes runs that are not ready and visits them again', async () => {
    await using it = await openStore(name);
    const { store } = it;
    const now = Date.now();
    const made = (hours: number, label: string) => runFrom(now - LOG_MS - hours * HOUR_MS, label);
    const [ended, active, broken, later] = [made(9, 'ended'), made(8, 'active'), made(7, 'broken'), made(6, 'later')];
    const newer = made(5, 'newer');
    await addRun(store, newer, now - LOG_MS - 4 * HOUR_MS, '{"v":3,"i":[],"e":[]}');
    await addRun(store, ended, now - LOG_MS - 8 * HOUR_MS);
    await addRun(store, active, null);
    await addRun(store, broken, now - LOG_MS - 6 * HOUR_MS, 'no chunk');
    await addRun(store, later, now - LOG_MS - 5 * HOUR_MS);
    const recent = runFrom(now - LOG_MS - 60_000, 'recent');
    await addRun(store, recent, now - HOUR_MS);
    assert.equal(await retention(store).sweep(), 3);
    assert.deepEqual(await tableRows(store, 'skipped_runs'), [active, newer], 'a later version can read one of them');
    const kept = await first(store.reads.all(chunkAfter, { runId: broken, after: 0 }));
    assert.equal(kept?.data, 'no chunk', 'events that cannot be read are kept');
    assert.ok((await tableRows(store, 'compacted_chunks')).includes(broken));
    assert.equal((await first(store.reads.all(compactionPosition, {})))?.position, newer);
    for (const runId of [ended, later]) assert.deepEqual(await eventIds(store, runId), COMPACTED);
    for (const runId of [active, recent]) assert.deepEqual(await eventIds(store, runId), WHOLE);
    assert.equal((await first(store.reads.all(lastStoredId, { runId: ended })))?.last_id, 3);

    await end(store, active, now - HOUR_MS);
    assert.equal(await retention(store).sweep(), 0, 'it ended recently');
    await end(store, active, now - LOG_MS - HOUR_MS);
    await end(store, recent, now - LOG_MS - 1000);
    assert.equal(await retention(store).sweep(), 2);
    assert.deepEqual(await tableRows(store, 'skipped_runs'), [newer]);
    assert.deepEqual(await eventIds(store, active), COMPACTED);
    assert.equal(await retention(store).sweep(), 0);
  });

  test('visits a run of a node whose clock is behind', async () => {
    await using it = await openStore(name);
    const [passed, late] = [12, 20].map((minutes) => runFrom(Date.now() - minutes * 60_000, 'run'));
    assert.ok(passed !== undefined && late !== undefined);
    await addRun(it.store, passed, Date.now() - 60_000);
    assert.equal(await retention(it.store, noEarlierNodes, 0).sweep(), 1);
    await addRun(it.store, late, Date.now() - 1000);
    assert.equal(await retention(it.store, noEarlierNodes, 0).sweep(), 1);
    assert.deepEqual(await eventIds(it.store, late), COMPACTED);
  });

  test('a sweep that ends between its commits loses no events', async () => {
    await using it = await openStore(name);
    const runs = ['a', 'b', 'c'].map((label, index) => runFrom(today - 20 * DAY_MS + index * HOUR_MS, label));
    for (const runId of runs) await addRun(it.store, runId, today - 19 * DAY_MS);
    await addRun(it.store, runFrom(today - 19 * DAY_MS, 'active'), null);
    for (let commits = 0, isDone = false; !isDone; commits += 1) {
      assert.ok(commits < 20);
      for (const moment of ['before', 'after'] as const) {
        isDone = await retention(dying(it.store, Math.min(commits, 2), moment))
          .sweep()
          .then(
            () => true,
            () => false,
          );
        for (const runId of runs) assert.ok((await eventIds(it.store, runId)) !== undefined, runId);
      }
    }
    for (const runId of runs) assert.deepEqual(await eventIds(it.store, runId), COMPACTED);
    assert.deepEqual(await eventIds(it.store, runFrom(today - 19 * DAY_MS, 'active')), WHOLE);
  });

  test('writes nothing of a run whose events were deleted in between', async () => {
    await using it = await openStore(name);
    const runId = runFrom(today - 20 * DAY_MS, 'erased');
    await addRun(it.store, runId, today - 19 * DAY_MS);
    const erase = () =>
      it.store.transact('erasure', async (tx) => {
        await Promise.all([tx.run(eraseEvents, { runId }), tx.run(eraseCompacted, { runId })]);
      });
    let isErased = false;
    const erasing: Store = {
      kind: it.store.kind,
      reads: it.store.reads,
      transact: async (transaction, job) => {
        if (transaction === 'sweep' && !isErased && (await tableRows(it.store, 'event_chunks')).length > 0) {
          isErased = true;
          await erase();
        }
        return it.store.transact(transaction, job);
      },
      [Symbol.asyncDispose]: async () => {},
    };
    // The partitions are added before, so that the next transaction compacts.
    if (name === 'postgres') await retention(it.store, { areAlive: () => true }).sweep();
    await retention(erasing).sweep();
    assert.equal(isErased, true);
    assert.deepEqual(await tableRows(it.store, 'compacted_chunks'), []);
  });
}

/** A store whose process ends at a sweep's commit, after `commits` others. */
function dying(store: Store, commits: number, moment: 'before' | 'after'): Store {
  let left = commits;
  return {
    kind: store.kind,
    reads: store.reads,
    transact: async (transaction, job) => {
      if (left < 0 || (left === 0 && moment === 'before')) {
        left = -1;
        throw new Error('The process was killed.');
      }
      left -= 1;
      const result = await store.transact(transaction, job);
      if (left < 0) throw new Error('The process was killed.');
      return result;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

test('an erasure deletes what a concurrent compaction writes', { skip: !STORES.includes('postgres') }, async () => {
  await using it = await openStore('postgres');
  const { store } = it;
  const runId = runFrom(today - 20 * DAY_MS, 'erased');
  await addRun(store, runId, today - 19 * DAY_MS);
  await retention(store, { areAlive: () => true }).sweep();
  let erased: Promise<unknown> | null = null;
  const holding: Store = {
    kind: store.kind,
    reads: store.reads,
    transact: (transaction, job) =>
      store.transact(transaction, async (tx) => {
        const result = await job(tx);
        // Later transactions of the sweep may begin before the erasure has deleted the rows.
        if (erased !== null) return result;
        if ((await tx.query((db) => db.selectFrom('compacted_chunks').select('run_id'))).length === 0) return result;
        erased = askDatabase(
          it.url,
          `delete from event_chunks where run_id = '${runId}';
           delete from compacted_chunks where run_id = '${runId}'`,
        );
        await until('the erasure waits for the compaction', async () => {
          const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
          return (await askDatabase(it.url, waiting)).length > 0;
        });
        return result;
      }),
    [Symbol.asyncDispose]: async () => {},
  };
  assert.equal(await retention(holding).sweep(), 1);
  await erased;
  assert.deepEqual(await tableRows(store, 'event_chunks'), []);
  assert.deepEqual(await tableRows(store, 'compacted_chunks'), []);
});

test('compacts nothing while nodes of the version before are alive', {
  skip: !STORES.includes('postgres'),
}, async () => {
  await using it = await openStore('postgres');
  const runId = runFrom(today - 20 * DAY_MS, 'r');
  await addRun(it.store, runId, today - 19 * DAY_MS);
  assert.equal(await retention(it.store, { areAlive: () => true }).sweep(), 0);
  assert.deepEqual(await eventIds(it.store, runId), WHOLE);
  assert.equal(await retention(it.store).sweep(), 1);
  assert.deepEqual(await tableRows(it.store, 'event_chunks'), [runId], 'the partition is dropped later');
});
