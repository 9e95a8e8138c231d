import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * For SQLite only. The id of most chats is their key, so the primary key finds them. The index of ids contains only the ids
 * that callers chose: a chat without one writes one tree less. Nodes of the version before use the whole index on PostgreSQL.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  if (kind !== 'sqlite') return;
  await db.schema.dropIndex('chats_id').execute();
  await db.schema
    .createIndex('chats_id')
    .unique()
    .on('chats')
    .columns(['integration_id', 'chat_id'])
    .where(sql<boolean>`deleted_at is null and chat_id <> chat_key`)
    .execute();
}
