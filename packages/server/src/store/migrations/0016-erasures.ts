import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;

  await db.schema
    .createTable('erasures')
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('erased_id', text, (c) => c.notNull())
    .addColumn('consumer_id', text)
    .addColumn('folder_id', text)
    .addColumn('started_at', 'bigint', (c) => c.notNull())
    .addColumn('replaced_at', 'bigint')
    .addColumn('finished_at', 'bigint')
    .addPrimaryKeyConstraint('erasures_key', ['integration_id', 'erased_id'])
    .modifyEnd(clustered)
    .execute();

  // An erasure finds everything of a member by these indexes, also runs and chats that ended or were deleted long ago.
  await db.schema
    .createIndex('runs_consumer')
    .on('runs')
    .columns(['integration_id', 'consumer_id', 'created_at', 'run_id'])
    .where(sql<boolean>`consumer_id is not null`)
    .execute();
  await db.schema.dropIndex('chats_consumer').execute();
  await db.schema
    .createIndex('chats_consumer')
    .on('chats')
    .columns(['integration_id', 'consumer_id', 'created_at', 'chat_key'])
    .where(sql<boolean>`consumer_id is not null`)
    .execute();

  // Blobs whose bytes an erasure deletes.
  await db.schema
    .createTable('erased_blobs')
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('erased_id', text, (c) => c.notNull())
    .addColumn('blob_key', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('erased_blobs_key', ['integration_id', 'erased_id', 'blob_key'])
    .modifyEnd(clustered)
    .execute();
}
