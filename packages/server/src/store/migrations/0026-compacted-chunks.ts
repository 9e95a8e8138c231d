import { type Kysely, sql } from 'kysely';
import { readEventBound } from '../event-bound.ts';
import type { StoreKind } from '../store.ts';

/**
 * Compacted chunks get their own table, and the sweep that compacts a stored position. Before, an index contained the runs
 * that waited for the sweep: the end of every run wrote it, and PostgreSQL could not update the run's row in place.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  await db.schema
    .createTable('compacted_chunks')
    .addColumn('run_id', text, (c) => c.notNull())
    .addColumn('first_id', 'bigint', (c) => c.notNull())
    .addColumn('last_id', 'bigint', (c) => c.notNull())
    .addColumn('data', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('compacted_chunks_key', ['run_id', 'first_id'])
    .execute();
  await db.schema
    .createTable('sweep_positions')
    .addColumn('name', text, (c) => c.primaryKey().notNull())
    .addColumn('position', text, (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('skipped_runs')
    .addColumn('run_id', text, (c) => c.primaryKey().notNull())
    .execute();
  if (kind === 'postgres') await partitionEvents(db);
}

/**
 * The table becomes the first partition of a new table with its name, so nodes of the version before continue to use it. The
 * sweep of events adds the other partitions. Until it does, and for ids of no time, rows are stored in the last one.
 */
async function partitionEvents(db: Kysely<unknown>): Promise<void> {
  // While this transaction waits for the table, the transactions of other nodes wait too. The migration is then repeated.
  await sql`set local lock_timeout = '1s'`.execute(db);
  await sql`lock table event_chunks in access exclusive mode`.execute(db);
  const bound = await readEventBound(db);
  await sql`alter table event_chunks rename to event_chunks_earlier`.execute(db);
  await sql`alter table event_chunks_earlier rename constraint event_chunks_key to event_chunks_earlier_key`.execute(
    db,
  );
  await sql`create table event_chunks (
    run_id text collate "C" not null, first_id bigint not null, last_id bigint not null, data text collate "C" not null,
    constraint event_chunks_key primary key (run_id, first_id)) partition by range (run_id)`.execute(db);
  await sql`alter table event_chunks attach partition event_chunks_earlier
    for values from (minvalue) to (${sql.lit(bound)})`.execute(db);
  await sql`alter table event_chunks_earlier drop constraint if exists event_chunks_bound`.execute(db);
  await sql`create table event_chunks_other partition of event_chunks default`.execute(db);
}
