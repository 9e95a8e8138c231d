import type { Kysely } from 'kysely';

/** Null for nodes of earlier versions, which may run at the same time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('nodes').addColumn('host', 'text').execute();
  await db.schema.alterTable('nodes').addColumn('address', 'text').execute();
}
