import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { LATEST_MIGRATION } from '../migrate.ts';
import { NODE_ALIVE, NODE_DEAD, NODE_RELEASED } from '../schema.ts';
import { CopyDiffers, copyInstallation } from '../transfer/copy-installation.ts';
import type { Row } from '../transfer/ports.ts';
import { SqliteSnapshot } from './sqlite-snapshot.ts';
import { SqliteTarget } from './sqlite-target.ts';

const OLD = '0003-attachments';
const NODE = ['node_id', 'boot', 'dead', 'version', 'started_at'];
const NODES: Row[] = [
  ['a', 'x', NODE_ALIVE, '0', 1],
  ['b', 'x', NODE_DEAD, '0', 1],
  ['c', 'x', NODE_RELEASED, '0', 1],
];
/** More rows than one batch, with characters that end lines, strings and C strings. */
const CHUNKS: Row[] = Array.from({ length: 150 }, (_, id) => [`run-${id}`, id + 1, id + 1, `\u0000\u2028"${id}𝄞`]);

async function oldInstallation(path: string): Promise<void> {
  await using made = new SqliteTarget(path);
  await made.migrate(OLD);
  await made.insert('nodes', NODE, NODES);
  await made.insert('event_chunks', ['run_id', 'first_id', 'last_id', 'data'], CHUNKS);
  await made.commit();
}

async function toRows(snapshot: SqliteSnapshot, table: string, columns: readonly string[]): Promise<Row[]> {
  const all: Row[] = [];
  for await (const rows of snapshot.rows(table, columns)) all.push(...rows);
  return all;
}

test('a copy of an older version is migrated, and its nodes are not alive', async () => {
  const folder = temporaryFolder();
  await oldInstallation(join(folder, 'old.db'));
  {
    await using old = new SqliteSnapshot(join(folder, 'old.db'));
    assert.equal((await old.migrations()).at(-1), OLD);
    await using target = new SqliteTarget(join(folder, 'new.db'));
    const copied = await copyInstallation(old, target, NODE_RELEASED);
    assert.deepEqual(copied.find(({ table }) => table === 'event_chunks')?.rows, CHUNKS.length);
    assert.ok(!readdirSync(folder).includes('new.db'), 'not before the commit');
    await target.commit();
  }
  await using copy = new SqliteSnapshot(join(folder, 'new.db'));
  assert.equal((await copy.migrations()).at(-1), LATEST_MIGRATION);
  assert.deepEqual((await toRows(copy, 'nodes', ['node_id', 'dead'])).toSorted(), [
    ['a', NODE_RELEASED],
    ['b', NODE_DEAD],
    ['c', NODE_RELEASED],
  ]);
  const chunks = await toRows(copy, 'event_chunks', ['run_id', 'first_id', 'last_id', 'data']);
  assert.deepEqual(
    chunks.toSorted((a, b) => Number(a[1]) - Number(b[1])),
    CHUNKS,
  );
  rmSync(folder, { recursive: true });
});

test('a copy has no events of compacted runs', async () => {
  const folder = temporaryFolder();
  const columns = ['run_id', 'first_id', 'last_id', 'data'];
  {
    await using made = new SqliteTarget(join(folder, 'old.db'));
    await made.migrate(null);
    await made.insert('event_chunks', columns, [
      ['run_1', 1, 5, 'whole'],
      ['run_2', 1, 5, 'whole'],
    ]);
    await made.insert('compacted_chunks', columns, [['run_1', 1, 5, 'compacted']]);
    await made.commit();
    await using old = new SqliteSnapshot(join(folder, 'old.db'));
    await using target = new SqliteTarget(join(folder, 'new.db'));
    await copyInstallation(old, target, NODE_RELEASED);
    await target.commit();
  }
  await using copy = new SqliteSnapshot(join(folder, 'new.db'));
  assert.deepEqual(await toRows(copy, 'event_chunks', ['run_id']), [['run_2']]);
  assert.deepEqual(await toRows(copy, 'compacted_chunks', ['run_id']), [['run_1']]);
  rmSync(folder, { recursive: true });
});

test('a copy that differs when it is read back is deleted', async () => {
  const folder = temporaryFolder();
  await oldInstallation(join(folder, 'old.db'));
  {
    await using old = new SqliteSnapshot(join(folder, 'old.db'));
    await using target = new SqliteTarget(join(folder, 'new.db'));
    const insert = target.insert.bind(target);
    target.insert = (table, columns, rows) =>
      insert(table, columns, table === 'event_chunks' ? rows.map((row) => row.with(3, 'other')) : rows);
    await assert.rejects(copyInstallation(old, target, NODE_RELEASED), CopyDiffers);
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('new.db')),
    [],
  );
  rmSync(folder, { recursive: true });
});
