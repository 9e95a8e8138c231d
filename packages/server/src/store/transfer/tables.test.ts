import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { embeddedStore, freshDatabase, postgresStore } from '@runwire/test-kit/test-store.ts';
import pg from 'pg';
import { missingService } from '../../../../../test/support/services.ts';
import { COPIED_TABLES, UNCOPIED_TABLES } from './tables.ts';

const LISTED: ReadonlySet<string> = new Set([...COPIED_TABLES, ...UNCOPIED_TABLES]);
const unlisted = (names: readonly unknown[]) => names.map(String).filter((name) => !LISTED.has(name));
const listMissing = (names: readonly unknown[]) => COPIED_TABLES.filter((name) => !names.includes(name));

test('every table of the embedded database is copied or listed as left out', async () => {
  const folder = temporaryFolder();
  await (await embeddedStore(folder))[Symbol.asyncDispose]();
  const database = new DatabaseSync(join(folder, 'test.db'));
  const query = `select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`;
  const names = () =>
    database
      .prepare(query)
      .all()
      .map((row) => row.name);
  assert.deepEqual(unlisted(names()), []);
  assert.deepEqual(listMissing(names()), []);
  database.exec('create table forgotten (id integer)');
  assert.deepEqual(unlisted(names()), ['forgotten'], 'one that is forgotten is seen');
  database.close();
  rmSync(folder, { recursive: true });
});

test('every table of PostgreSQL is copied or listed as left out', {
  skip: (await missingService('postgres')) ?? false,
}, async () => {
  await using database = await freshDatabase();
  await (await postgresStore(database.url))[Symbol.asyncDispose]();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(`select relname as tablename from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`);
  await client.end();
  const names = rows.map((row) => row.tablename);
  assert.deepEqual(unlisted(names), []);
  assert.deepEqual(listMissing(names), []);
});
