import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * The index for searches. A loop fills it, so that no run's transaction writes to it. A trigger deletes words with their messages:
 * nodes with the version before do not know the tables.
 *
 * SQLite: `search_index` has no texts itself, and `secure-delete` removes deleted rows' words from it.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;
  await db.schema
    .createTable('search_state')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('position', text, (c) => c.notNull())
    .addColumn('rest', text)
    .execute();
  await db.schema
    .createTable('search_waiting')
    .addColumn('chat_key', text, (c) => c.notNull())
    .addColumn('run_id', text, (c) => c.notNull())
    .addColumn('due_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('search_waiting_key', ['chat_key', 'run_id'])
    .modifyEnd(clustered)
    .execute();
  const statements = kind === 'postgres' ? POSTGRES : SQLITE;
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const SQLITE = [
  'create table search_docs (doc integer primary key, run_id text not null unique, chat_key text not null, words text not null)',
  `create virtual table search_index using fts5 (
    words, content = 'search_docs', content_rowid = 'doc', detail = none, columnsize = 0, tokenize = 'ascii')`,
  `insert into search_index (search_index, rank) values ('secure-delete', 1)`,
  `create virtual table search_terms using fts5vocab ('search_index', 'instance')`,
  `create trigger search_docs_added after insert on search_docs begin
    insert into search_index (rowid, words) values (new.doc, new.words); end`,
  `create trigger search_docs_deleted after delete on search_docs begin
    insert into search_index (search_index, rowid, words) values ('delete', old.doc, old.words); end`,
  `create trigger messages_unindexed after delete on messages when old.role = 'user' begin
    delete from search_docs where run_id = old.run_id
      and not exists (select 1 from shared_runs s where s.run_id = old.run_id and s.chat_key <> old.chat_key);
    delete from search_waiting where chat_key = old.chat_key and run_id in (old.run_id, ''); end`,
];

const POSTGRES = [
  `create table search_docs (
    run_id text collate "C" primary key, chat_key text collate "C" not null, words tsvector not null)`,
  // A short list: an insert that moves its entries to the index takes a while.
  'create index search_docs_words on search_docs using gin (words) with (gin_pending_list_limit = 256)',
  `create function delete_search_docs() returns trigger language plpgsql as $$
begin
  delete from search_docs d using deleted m where m.role = 'user' and d.run_id = m.run_id
    and not exists (select 1 from shared_runs s where s.run_id = m.run_id and s.chat_key <> m.chat_key);
  delete from search_waiting w using deleted m where w.chat_key = m.chat_key and w.run_id in (m.run_id, '');
  return null;
end $$`,
  `create trigger messages_unindexed after delete on messages referencing old table as deleted
    for each statement execute function delete_search_docs()`,
];
