import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * For the chat list by last change. Each run changes `updated_at` twice, so an index of it would be written twice per run, and on
 * PostgreSQL all other indexes with it (50 µs and 630 WAL bytes per run in a new chat). The index has the hour of the last
 * change, which changes seldom, and a page sorts the chats of an hour. Earlier nodes need not know the column, because the
 * database keeps it. SQLite would write an index of a computed column whenever `updated_at` is set, so it uses triggers. The
 * first one runs after the new row was indexed, and a row without an hour would be written to the other end of the index.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  await db.schema
    .alterTable('chats')
    .addColumn('updated_hour', 'bigint', (column) =>
      kind === 'postgres' ? column.generatedAlwaysAs(sql`updated_at / 3600000`).stored() : column,
    )
    .execute();
  if (kind === 'sqlite') await keepHours(db);
  await db.schema
    .createIndex('chats_updated')
    .on('chats')
    .columns(['integration_id', 'updated_hour', 'chat_key'])
    .where(sql<boolean>`deleted_at is null and transient = 0 and updated_hour is not null`)
    .execute();
}

async function keepHours(db: Kysely<unknown>): Promise<void> {
  const setHour = sql`update chats set updated_hour = new.updated_at / 3600000 where chat_key = new.chat_key`;
  await sql`update chats set updated_hour = updated_at / 3600000`.execute(db);
  await sql`create trigger chats_created after insert on chats begin ${setHour}; end`.execute(db);
  await sql`create trigger chats_changed after update of updated_at on chats
    when new.updated_at / 3600000 <> new.updated_hour begin ${setHour}; end`.execute(db);
}
