import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;

  // Files, and versions of files that were replaced or deleted: readers and backups may still read these for a while.
  await db.schema
    .createTable('files')
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('path', text, (c) => c.notNull())
    .addColumn('blob_key', text, (c) => c.primaryKey().notNull())
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('etag', text, (c) => c.notNull())
    .addColumn('content_type', text, (c) => c.notNull())
    .addColumn('modified_at', 'bigint', (c) => c.notNull())
    .addColumn('signed_at', 'bigint')
    .addColumn('chat_key', text)
    .addColumn('text_key', text)
    .addColumn('freed_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('files_path')
    .unique()
    .on('files')
    .columns(['integration_id', 'path'])
    .where(sql<boolean>`freed_at is null`)
    .execute();
  await db.schema
    .createIndex('files_chat')
    .on('files')
    .columns(['chat_key', 'path'])
    .where(sql<boolean>`chat_key is not null and freed_at is null`)
    .execute();
  await db.schema
    .createIndex('files_freed')
    .on('files')
    .columns(['freed_at', 'integration_id'])
    .where(sql<boolean>`freed_at is not null`)
    .execute();
  // The sweep looks up which blobs of a listing are in use.
  await db.schema
    .createIndex('files_text')
    .on('files')
    .column('text_key')
    .where(sql<boolean>`text_key is not null`)
    .execute();

  // The paths that `sandboxFiles` of a chat's runs named.
  await db.schema
    .createTable('announced_files')
    .addColumn('chat_key', text, (c) => c.notNull())
    .addColumn('path', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('announced_files_key', ['chat_key', 'path'])
    .modifyEnd(clustered)
    .execute();

  // Forms of an earlier version name their files in another way, and expire within minutes.
  await sql`delete from upload_forms`.execute(db);
  await db.schema
    .alterTable('upload_forms')
    .addColumn('content_type', text, (c) => c.notNull().defaultTo(''))
    .execute();
  await db.schema
    .alterTable('upload_forms')
    .addColumn('to_s3', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  // Nodes that settle the same upload concurrently agree by these.
  await db.schema.alterTable('upload_forms').addColumn('settled_drop', text).execute();
  await db.schema
    .alterTable('upload_forms')
    .addColumn('version', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.dropIndex('upload_forms_expiry').execute();
  await db.schema.createIndex('upload_forms_signed').on('upload_forms').column('signed_at').execute();

  for (const [column, type, initial] of [
    ['file_access', text, 'chat'],
    ['member_folder', text, '/app/mnt/members/{consumerId}'],
    ['file_bytes', sql`bigint`, 0],
  ] as const) {
    await db.schema
      .alterTable('integrations')
      .addColumn(column, type, (c) => c.notNull().defaultTo(initial))
      .execute();
  }
  await db.schema
    .alterTable('runs')
    .addColumn('file_access', text, (c) => c.notNull().defaultTo('chat'))
    .execute();
  await db.schema.alterTable('runs').addColumn('member_folder', text).execute();
}
