import type { Kysely } from 'kysely';

/** The run that made the newest summary of the chat. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('chats').addColumn('summary_run_id', 'text').execute();
}
