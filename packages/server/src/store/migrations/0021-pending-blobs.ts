import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;

  // A node of the version before stores neither: its erasures count as erasures with content.
  await db.schema
    .alterTable('erasures')
    .addColumn('has_content', 'bigint', (c) => c.notNull().defaultTo(1))
    .execute();
  await db.schema.alterTable('erasures').addColumn('deleted_at', 'bigint').execute();

  // A few rows, so an index besides the key would only cost writes.
  await db.schema
    .createTable('pending_blobs')
    .addColumn('batch_id', text, (c) => c.notNull().primaryKey())
    .addColumn('node_id', text, (c) => c.notNull())
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('erased_id', text)
    .addColumn('path', text)
    .addColumn('keys_json', text, (c) => c.notNull())
    .addColumn('abandoned', 'bigint', (c) => c.notNull().defaultTo(0))
    .modifyEnd(clustered)
    .execute();
}
