import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;
  // If a quota is null, the setting counts; 0 is no quota. `counted_bytes` is `file_bytes` while `folder_bytes` is right.
  for (const column of ['quota_bytes', 'member_quota_bytes', 'counted_bytes']) {
    await db.schema.alterTable('integrations').addColumn(column, 'bigint').execute();
  }
  await db.schema
    .createTable('folder_bytes')
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('folder', text, (c) => c.notNull())
    .addColumn('bytes', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('folder_bytes_key', ['integration_id', 'folder'])
    .modifyEnd(clustered)
    .execute();
}
