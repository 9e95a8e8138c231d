import { type Kysely, sql } from 'kysely';

/**
 * For the list of chats, newest first, with its filters; `status=running` starts from the active runs. `updated_at` has no
 * index: each run changes it twice, and on PostgreSQL each of these updates would write all indexes of the table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const columns = {
    chats_newest: ['integration_id', 'created_at', 'chat_key'],
    chats_consumer: ['integration_id', 'consumer_id', 'created_at', 'chat_key'],
  };
  for (const [name, indexed] of Object.entries(columns)) {
    const live = sql<boolean>`deleted_at is null`;
    await db.schema.createIndex(name).on('chats').columns(indexed).where(live).execute();
  }
}
