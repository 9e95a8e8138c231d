import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;
  // `[{name, path}]` of a user's message, or null if it has none.
  await db.schema.alterTable('messages').addColumn('sandbox_files_json', text).execute();

  // The kind of place that has the mark: a folder, or a bucket in which the keys begin with it.
  await db.schema
    .alterTable('blob_folder')
    .addColumn('kind', text, (c) => c.notNull().defaultTo('disk'))
    .execute();

  // When a deleted integration's files were deleted.
  await db.schema.alterTable('integrations').addColumn('files_deleted_at', 'bigint').execute();

  // The number that the secret for upload forms is derived with, and when earlier numbers were retired.
  await db.schema
    .createTable('upload_secrets')
    .addColumn('number', 'integer', (c) => c.primaryKey())
    .addColumn('made_at', 'bigint', (c) => c.notNull())
    .addColumn('retired_at', 'bigint')
    .execute();

  // Signed forms that have not expired. The bytes that they may still upload count towards the quota.
  await db.schema
    .createTable('upload_forms')
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('form_id', text, (c) => c.notNull())
    .addColumn('path', text, (c) => c.notNull())
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('signed_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    // The path is before the id in the key, because signing looks up the paths above and below its own.
    .addPrimaryKeyConstraint('upload_forms_key', ['integration_id', 'path', 'form_id'])
    .modifyEnd(clustered)
    .execute();
  await db.schema.createIndex('upload_forms_expiry').on('upload_forms').column('expires_at').execute();
}
