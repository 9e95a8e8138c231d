import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('runs').addColumn('compacted_at', 'bigint').execute();
  // Holds only what a sweep still has to do, in the order in which it does it.
  await db.schema
    .createIndex('runs_to_compact')
    .on('runs')
    .columns(['completed_at', 'run_id'])
    .where(sql<boolean>`completed_at is not null and compacted_at is null`)
    .execute();
}
