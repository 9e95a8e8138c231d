import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;
  // `[{name, path}]` of a user's message; null: none.
  await db.schema.alterTable('messages').addColumn('sandbox_files_json', text).execute();

  // Where the files of the mark are: a folder of the disk, or a bucket in which their keys begin with it.
  await db.schema
    .alterTable('blob_folder')
    .addColumn('kind', text, (c) => c.notNull().defaultTo('disk'))
    .execute();

  // When the files of a deleted integration were deleted too.
  await db.schema.alterTable('integrations').addColumn('files_deleted_at', 'bigint').execute();

  // Which number the secret that signs upload forms is derived with, and until when earlier ones were.
  await db.schema
    .createTable('upload_secrets')
    .addColumn('number', 'integer', (c) => c.primaryKey())
    .addColumn('made_at', 'bigint', (c) => c.notNull())
    .addColumn('retired_at', 'bigint')
    .execute();

  // Forms that were signed and are not expired: what they may still bring counts towards an integration's quota.
  await db.schema
    .createTable('upload_forms')
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('form_id', text, (c) => c.notNull())
    .addColumn('path', text, (c) => c.notNull())
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('signed_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    // The path comes before the id: a signing looks for what is above and below its own.
    .addPrimaryKeyConstraint('upload_forms_key', ['integration_id', 'path', 'form_id'])
    .modifyEnd(clustered)
    .execute();
  await db.schema.createIndex('upload_forms_expiry').on('upload_forms').column('expires_at').execute();
}
