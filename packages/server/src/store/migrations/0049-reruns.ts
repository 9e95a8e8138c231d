import { type Kysely, sql } from 'kysely';
import { integrationOfReruns } from '../queries/chosen-rows.ts';
import type { StoreKind } from '../store.ts';

/** The run that a run reruns, and the last step of it that is kept. No index has a row of another run, so other runs write nothing more. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  await db.schema.alterTable('runs').addColumn('rerun_of', text).execute();
  await db.schema.alterTable('runs').addColumn('rerun_after_step', 'bigint').execute();
  const isRerun = sql<boolean>`rerun_of is not null`;
  await db.schema
    .createIndex('runs_rerun_of')
    .on('runs')
    .columns(['rerun_of', 'created_at', 'run_id'])
    .where(isRerun)
    .execute();
  await db.schema
    .createIndex('reruns')
    .on('runs')
    .expression(sql`(${integrationOfReruns})`)
    .columns(['created_at', 'run_id'])
    .where(isRerun)
    .execute();
}
