import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * For SQLite only. In a table that is ordered by its key, SQLite reads each row whole with which it compares a key. Members
 * of earlier versions can have metadata of megabytes: with 24 rows of 10 MiB each lookup of any member took about 50 ms.
 * With a row id only the small index of keys is compared.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  if (kind !== 'sqlite') return;
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_master where name = 'members'`.execute(db);
  await db.schema.alterTable('members').renameTo('members_by_key').execute();
  await sql.raw((rows[0]?.sql ?? '').replace(/\s*without rowid\s*$/i, '')).execute(db);
  await sql`insert into members select * from members_by_key`.execute(db);
  // Otherwise freed pages would contain members, and a member's erasure without content does not rewrite the database.
  await sql`pragma secure_delete = on`.execute(db);
  await db.schema.dropTable('members_by_key').execute();
  await sql`pragma secure_delete = off`.execute(db);
  await db.schema
    .createIndex('members_newest')
    .on('members')
    .columns(['integration_id', 'created_at', 'sort_key'])
    .execute();
  // They contain the id, so that a search reads no row of the table.
  for (const column of ['consumer_id', 'name_json']) {
    await db.schema
      .createIndex(`members_by_${column}`)
      .on('members')
      .column('integration_id')
      .expression(sql`lower(${sql.ref(column)})`)
      .columns(['created_at', 'sort_key', 'consumer_id'])
      .execute();
  }
}
