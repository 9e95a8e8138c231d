import type { Kysely } from 'kysely';

/** Milliseconds from a run's admission to the first output of its model. A node of an earlier version leaves it null. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('runs').addColumn('first_token_ms', 'bigint').execute();
}
