import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('runs').addColumn('compacted_at', 'bigint').execute();
  // Contains only the runs that the sweep still has to compact, in its order.
  await db.schema
    .createIndex('runs_to_compact')
    .on('runs')
    .columns(['completed_at', 'run_id'])
    .where(sql<boolean>`completed_at is not null and compacted_at is null`)
    .execute();
}
