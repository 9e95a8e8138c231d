import assert from 'node:assert/strict';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { WaitPoint } from '../../domain/wait-points.ts';
import { storeConformance } from '../../testing/store-conformance.ts';
import { temporaryFolder } from '../../testing/test-server.ts';
import { insertChunk } from '../queries/eventlog.ts';
import { runsToCompact } from '../queries/retention.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { SqliteStore } from './sqlite-store.ts';

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
  const points: WaitPoint[] = [];
  const options = {
    path: join(folder, 'test.db'),
    migrate: true,
    waitAt: (point: WaitPoint) => points.push(point),
    onFatal,
  };
  await using store = await SqliteStore.open(options);
  await Promise.all(
    [1, 2].map((id) =>
      store.transact('flush', (tx) => tx.run(insertChunk, { runId: 'r', firstId: id, lastId: id, data: '' })),
    ),
  );
  assert.deepEqual(points, ['flush.before-commit', 'flush.before-commit', 'flush.after-commit', 'flush.after-commit']);
  rmSync(folder, { recursive: true });
});

test('the write-ahead log is checkpointed beside the writer, while the store is open', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'test.db');
  await using store = await SqliteStore.open({ path, migrate: true, waitAt: undefined, onFatal });
  const data = 'x'.repeat(64 * 1024);
  let last = 0;
  const write = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      last += 1;
      const chunk = { runId: 'r', firstId: last, lastId: last, data };
      await store.transact('flush', (tx) => tx.run(insertChunk, chunk));
    }
  };
  await write(4000);
  assert.ok(statSync(path).size >= 100 * data.length, 'the database itself holds what the log held');
  assert.ok(statSync(`${path}-wal`).size < 2000 * data.length, 'the log was written from its start again');
  rmSync(folder, { recursive: true });
});

test('a database of a newer version is refused in one sentence', async () => {
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

test('a data folder is locked by one at a time, and free again when that one lets go', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'lock.db');
  const held = lockDataFolder(path);
  assert.throws(() => lockDataFolder(path), /Another Runwire server uses this data folder/);
  held[Symbol.dispose]();
  lockDataFolder(path)[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

test('a database of the version before is brought up to this one, and keeps what it holds', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'test.db');
  const open = () => SqliteStore.open({ path, migrate: true, waitAt: undefined, onFatal });
  {
    await using store = await open();
    await store.transact('flush', (tx) => tx.run(insertChunk, { runId: 'r', firstId: 1, lastId: 1, data: 'kept' }));
  }
  const database = new DatabaseSync(path);
  database.exec(`drop index runs_to_compact; alter table runs drop column compacted_at;
    drop table installation_secret;
    delete from kysely_migration where name >= '0002'`);
  database.close();
  await using store = await open();
  assert.deepEqual(await store.reads.all(runsToCompact, { until: 1, afterTime: -1, afterRunId: '', limit: 1 }), []);
  const rows = await store.reads.query((db) => db.selectFrom('event_chunks').select('data'));
  assert.deepEqual(
    rows.map((row) => row.data),
    ['kept'],
  );
  rmSync(folder, { recursive: true });
});
