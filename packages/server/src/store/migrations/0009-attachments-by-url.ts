import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/** An attachment by URL has no values in these columns until it is fetched, or if no copy is kept. */
const NOW_NULLABLE = ['blob_key', 'media_type', 'size_bytes'];

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  if (kind === 'postgres') {
    const text = sql`text collate "C"`;
    await db.schema
      .alterTable('attachments')
      .addColumn('kind', text, (c) => c.notNull().defaultTo('input_image'))
      .addColumn('url', text)
      .addColumn('url_key', text)
      .addColumn('filename_json', text)
      // A node of the earlier version writes only inline images.
      .addColumn('form', text, (c) => c.defaultTo('image'))
      .addColumn('pages', 'integer')
      .execute();
    for (const column of NOW_NULLABLE) {
      await db.schema
        .alterTable('attachments')
        .alterColumn(column, (c) => c.dropNotNull())
        .execute();
    }
  } else await remake(db);
  // Attachments that must be fetched again for the next turn. Admission checks whether their links are still valid.
  await db.schema
    .createIndex('attachments_without_copy')
    .on('attachments')
    .column('chat_key')
    .where(sql<boolean>`url is not null and blob_key is null`)
    .execute();
}

/** SQLite cannot make a column nullable, so the table is created again, with the columns in the order of PostgreSQL. */
async function remake(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropIndex('attachments_blob').execute();
  await sql`alter table attachments rename to attachments_before`.execute(db);
  await db.schema
    .createTable('attachments')
    .addColumn('chat_key', 'text', (c) => c.notNull())
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('blob_key', 'text')
    .addColumn('media_type', 'text')
    .addColumn('size_bytes', 'bigint')
    .addColumn('detail', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('url', 'text')
    .addColumn('url_key', 'text')
    .addColumn('filename_json', 'text')
    .addColumn('form', 'text')
    .addColumn('pages', 'integer')
    .addPrimaryKeyConstraint('attachments_key', ['chat_key', 'run_id', 'position'])
    .modifyEnd(sql`without rowid`)
    .execute();
  await sql`insert into attachments (chat_key, run_id, position, kind, detail, form, media_type, size_bytes, blob_key)
    select chat_key, run_id, position, 'input_image', detail, 'image', media_type, size_bytes, blob_key
    from attachments_before`.execute(db);
  await sql`drop table attachments_before`.execute(db);
  await db.schema.createIndex('attachments_blob').on('attachments').column('blob_key').execute();
}
