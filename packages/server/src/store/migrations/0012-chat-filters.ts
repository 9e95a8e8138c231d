import { type Kysely, sql } from 'kysely';

/** For the list of chats, newest first, with its filters. They order by `created_at`; `status` goes by the active runs. */
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
