import { type Kysely, sql } from 'kysely';

/** Indexes for the filters of the list of chats, ordered by `created_at`. `status` uses the index of active runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const columns = {
    chats_newest: ['integration_id', 'created_at', 'chat_key'],
    chats_consumer: ['integration_id', 'consumer_id', 'created_at', 'chat_key'],
    chats_updated: ['integration_id', 'updated_at'],
  };
  for (const [name, indexed] of Object.entries(columns)) {
    const live = sql<boolean>`deleted_at is null`;
    await db.schema.createIndex(name).on('chats').columns(indexed).where(live).execute();
  }
}
