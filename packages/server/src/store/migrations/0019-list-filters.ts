import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * For the run lists, members and nodes. Active runs are few, and have indexes of their own: so a run is
 * added to `runs_finished` once, at its end.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  await db.schema
    .createIndex('runs_agent')
    .on('runs')
    .columns(['integration_id', 'agent', 'created_at', 'run_id'])
    .execute();
  await db.schema
    .createIndex('runs_finished')
    .on('runs')
    .columns(['integration_id', 'status', 'created_at', 'run_id'])
    .where(sql<boolean>`status in ('completed', 'failed', 'cancelled')`)
    .execute();

  await db.schema
    .createIndex('members_newest')
    .on('members')
    .columns(['integration_id', 'created_at', 'sort_key'])
    .execute();
  // `lower` changes only A to Z on both databases: on PostgreSQL because the collation of the columns is "C".
  for (const column of ['consumer_id', 'name_json']) {
    await db.schema
      .createIndex(`members_by_${column}`)
      .on('members')
      .column('integration_id')
      .expression(sql`lower(${sql.ref(column)})`)
      .columns(['created_at', 'sort_key'])
      .execute();
  }

  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  await db.schema.alterTable('node_beats').addColumn('stats_json', text).execute();
}
