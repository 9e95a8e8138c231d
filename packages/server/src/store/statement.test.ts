import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Schema } from './schema.ts';
import { CompiledStatements, insertInto, sameAs } from './statement.ts';

const db = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

test('an insert binds its parameters by the names of the columns', () => {
  const columns = [
    'session_id',
    'owner_id',
    { secret_hash: 's' },
    'created_at',
    { used_at: sameAs('created_at') },
  ] as const;
  const insert = insertInto('sessions', columns, { unlessExists: ['session_id'] });
  const { name, sql, bind } = new CompiledStatements().get(db, insert);
  assert.equal(name, 'insert sessions');
  assert.equal(
    sql,
    'insert into "sessions" ("session_id", "owner_id", "secret_hash", "created_at", "used_at") values (?, ?, ?, ?, ?)' +
      ' on conflict ("session_id") do nothing',
  );
  assert.deepEqual(bind({ created_at: 7, session_id: 'a', owner_id: 'b' }), ['a', 'b', 's', 7, 7]);
});

test('the type of an insert refuses a list that lacks a mandatory column', () => {
  // @ts-expect-error: `data` has no default.
  insertInto('event_chunks', ['run_id', 'first_id', 'last_id']);
  // @ts-expect-error: The table has no such column.
  insertInto('event_chunks', ['run_id', 'first_id', 'last_id', 'data', 'size']);
  insertInto('node_beats', ['node_id', 'beat', 'seen_at', 'draining']);
});
