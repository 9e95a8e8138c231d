import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;
  await db.schema
    .createTable('blobs')
    .addColumn('integration_id', 'text', (c) => c.notNull())
    .addColumn('sha256', 'text', (c) => c.notNull())
    .addColumn('blob_key', 'text', (c) => c.notNull().unique())
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('unused_since', 'bigint')
    // The key contains the integration, so that integrations cannot find out about each other's files.
    .addPrimaryKeyConstraint('blobs_key', ['integration_id', 'sha256'])
    .modifyEnd(clustered)
    .execute();
  // Contains only the blobs that the sweep has to check.
  await db.schema
    .createIndex('blobs_unused')
    .on('blobs')
    .columns(['unused_since', 'blob_key'])
    .where(sql<boolean>`unused_since is not null`)
    .execute();

  await db.schema
    .createTable('attachments')
    .addColumn('chat_key', 'text', (c) => c.notNull())
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('blob_key', 'text', (c) => c.notNull())
    .addColumn('media_type', 'text', (c) => c.notNull())
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('detail', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('attachments_key', ['chat_key', 'run_id', 'position'])
    .modifyEnd(clustered)
    .execute();
  await db.schema.createIndex('attachments_blob').on('attachments').column('blob_key').execute();
}
