import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PostgresServer } from '@runwire/test-kit/postgres-server.ts';
import { until } from '@runwire/test-kit/shortfall.ts';
import { testRunId } from '@runwire/test-kit/test-ids.ts';
import { missingService } from '../../../../../test/support/services.ts';
import type { RunEventBody } from '../../domain/events.ts';
import type { RunId } from '../../domain/ids.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import { EventLog, storeChunks } from '../../eventlog/event-log.ts';
import { createLogger } from '../../telemetry/logger.ts';
import { allChunks } from '../queries/eventlog.ts';
import { PostgresStore } from './postgres-store.ts';

/* Needs its own PostgreSQL, which it kills. */

const skip = (await missingService('postgres')) ?? false;
const OPTIONS = {
  flushMs: 600_000,
  chunkBytes: 1000,
  heldBytes: 1000,
  unstoredRunBytes: 1_000_000,
  unstoredBytes: 1_000_000,
};
const delta = (text: string): RunEventBody => ({
  type: 'delta',
  item: {
    ...{ kind: 'message', id: 'msg_1', agent: 'A', callerAgent: null },
    ...{ outputIndex: 0, text: '', complete: false, timestamp: 1 },
  } as const,
  text,
});

test('events of a flush that a crash of PostgreSQL loses are stored again', { skip }, async () => {
  // The WAL writer would make the commits durable before the crash.
  await using postgres = await PostgresServer.start({ wal_writer_delay: '10000' });
  const url = await postgres.database();
  await using store = await PostgresStore.open({ url, pool: 2, pooled: false, migrate: true, waitAt: undefined });
  await using eventLog = new EventLog(store, OPTIONS, createLogger('silent'));
  const bounds = async (runId: RunId) => {
    const rows = await store.reads.all(allChunks, { runId });
    return rows.map((row) => [row.first_id, row.last_id]);
  };
  const whenBack = (work: () => Promise<unknown>) =>
    until('the store is back', async () => {
      try {
        await work();
        return true;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        return false;
      }
    });
  for (const way of ['postmaster', 'immediate'] as const) {
    const flushed = eventLog.open(testRunId(`flushed-${way}`), 1, []);
    const stepped = eventLog.open(testRunId(`stepped-${way}`), 1, []);
    for (const log of [flushed, stepped]) log.append(delta('first'));
    await eventLog.flush();
    assert.deepEqual(await bounds(flushed.runId), [[1, 1]], 'other nodes see it');
    assert.ok(flushed.wantsFlush, 'it is not durable yet');
    for (const log of [flushed, stepped]) log.append(delta('second'));
    // A step that was handed in before the crash, and is committed after it.
    const chunks = stepped.takeChunks();
    await postgres.crash(way);
    await whenBack(async () => {
      assert.deepEqual(await bounds(flushed.runId), [], 'the crash lost it');
    });
    await whenBack(() => store.transact('step', (tx) => storeChunks(tx, stepped.runId, chunks)));
    assert.deepEqual(await bounds(stepped.runId), [
      [1, 1],
      [2, 2],
    ]);
    await eventLog.flushAll();
    assert.deepEqual(await bounds(flushed.runId), [
      [1, 1],
      [2, 2],
    ]);
    assert.ok(!flushed.wantsFlush, 'it is durable');
    await postgres.crash(way);
    await whenBack(async () => assert.equal((await bounds(flushed.runId)).length, 2));
    for (const log of [flushed, stepped]) eventLog.drop(log);
  }
});

test('a durable commit follows an early one within a second', { skip }, async () => {
  await using postgres = await PostgresServer.start({ wal_writer_delay: '10000' });
  const url = await postgres.database();
  await using store = await PostgresStore.open({ url, pool: 2, pooled: false, migrate: true, waitAt: undefined });
  await using eventLog = new EventLog(store, OPTIONS, createLogger('silent'));
  const log = eventLog.open(testRunId('r'), 1, []);
  log.append(delta('only'));
  await eventLog.flush();
  assert.ok(log.wantsFlush);
  await until('it is durable', async () => !log.wantsFlush);
  await postgres.crash('postmaster');
  await until(
    'it is stored',
    async () => (await store.reads.all(allChunks, { runId: testRunId('r') }).catch(() => [])).length === 1,
  );
});
