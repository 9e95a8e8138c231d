import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * For SQLite only. In a table that is ordered by its key, SQLite reads each row whole with which it compares a key. Members
 * of earlier versions can have metadata of megabytes: with 24 rows of 10 MiB each lookup of any member took about 50 ms.
 * With a row id only the small index is compared. The metadata is the last column: without it, SQLite finds the other
 * columns without reading the pages of the metadata.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  if (kind !== 'sqlite') return;
  const byRow = 'members_by_row';
  await db.schema
    .createTable(byRow)
    .addColumn('integration_id', 'text', (c) => c.notNull())
    .addColumn('consumer_id', 'text', (c) => c.notNull())
    .addColumn('sort_key', 'text', (c) => c.notNull())
    .addColumn('name_json', 'text')
    .addColumn('active', 'integer', (c) => c.notNull())
    .addColumn('own_limit', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addColumn('metadata_json', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('members_key', ['integration_id', 'consumer_id'])
    .execute();
  const columns = sql.raw(
    'integration_id, consumer_id, sort_key, name_json, active, own_limit, created_at, updated_at, metadata_json',
  );
  await sql`insert into ${sql.table(byRow)} (${columns}) select ${columns} from members`.execute(db);
  // Otherwise freed pages would contain members, and the erasure of a member without content does not rewrite the database.
  await sql`pragma secure_delete = on`.execute(db);
  await db.schema.dropTable('members').execute();
  await sql`pragma secure_delete = off`.execute(db);
  await db.schema.alterTable(byRow).renameTo('members').execute();
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
