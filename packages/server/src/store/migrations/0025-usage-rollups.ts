import { type Kysely, sql } from 'kysely';
import { areEarlierNodesRefused } from '../earlier-nodes.ts';
import type { StoreKind } from '../store.ts';

const AMOUNTS = [
  'request_count',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'reasoning_tokens',
  'charged_runs',
  'charged_tokens',
  'charged_credits',
];

/** Sums of the usage of ended runs, by hour and by day of a member, so that a summary does not read the runs. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;
  // 1 if the run's end has raised the rollups. A node of an earlier version leaves it at 0.
  await db.schema
    .alterTable('runs')
    .addColumn('counted', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();

  const key = [
    'integration_id',
    'hour',
    'agent',
    'model',
    'node_id',
    'status',
    'error_code',
    'agency_version',
  ] as const;
  // A summary by day reads the rows in this order, so it needs no sort.
  let hours = db.schema.createTable('usage_hours').addColumn('integration_id', text, (c) => c.notNull());
  hours = hours.addColumn('hour', 'integer', (c) => c.notNull());
  for (const column of key.slice(2)) hours = hours.addColumn(column, text, (c) => c.notNull());
  for (const column of ['has_member', 'rerun']) hours = hours.addColumn(column, 'integer', (c) => c.notNull());
  for (const column of ['runs', 'model_runs', 'charged_model_runs', ...AMOUNTS])
    hours = hours.addColumn(column, 'bigint', (c) => c.notNull());
  await hours
    .addColumn('newest_run_id', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('usage_hours_key', [...key, 'has_member', 'rerun'] as never[])
    .modifyEnd(clustered)
    .execute();

  for (const column of ['ended_runs', ...AMOUNTS])
    await db.schema
      .alterTable('usage_days')
      .addColumn(column, 'bigint', (c) => c.notNull().defaultTo(0))
      .execute();
  await db.schema
    .alterTable('usage_days')
    .addColumn('newest_run_id', text, (c) => c.notNull().defaultTo(''))
    .execute();

  await db.schema
    .createTable('uncounted_runs')
    .addColumn('run_id', text, (c) => c.primaryKey())
    .addColumn('integration_id', text, (c) => c.notNull())
    .modifyEnd(clustered)
    .execute();
  await db.schema
    .createTable('usage_walk')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('after_run_id', text, (c) => c.notNull())
    .addColumn('last_run_id', text, (c) => c.notNull())
    .execute();
  // Runs that end from now on are counted by their node or added to `uncounted_runs`.
  await sql`insert into usage_walk (id, after_run_id, last_run_id)
    select 1, '', newest.run_id from (select max(run_id) as run_id from runs) newest where newest.run_id is not null`.execute(
    db,
  );
  if (kind === 'postgres' && !(await areEarlierNodesRefused(db))) await followEarlierNodes(db);
}

/**
 * A node of an earlier version ends runs without raising the rollups, and a person's erasure on such a node does not
 * move the columns that it does not know. The triggers are dropped with the last of these nodes.
 */
async function followEarlierNodes(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`create function queue_uncounted_run() returns trigger language plpgsql as $$
begin
  insert into uncounted_runs (run_id, integration_id) values (new.run_id, new.integration_id) on conflict do nothing;
  return null;
end $$`)
    .execute(db);
  await sql
    .raw(`create trigger queue_uncounted_run after update of completed_at on runs for each row
      when (new.counted = 0 and old.completed_at is null and new.completed_at is not null)
      execute function queue_uncounted_run()`)
    .execute(db);
  const move = `create function keep_erased_usage() returns trigger language plpgsql as $$
declare
  erased text := (select erased_id from erasures where integration_id = old.integration_id and consumer_id = old.consumer_id);
begin
  update usage_days set newest_run_id = greatest(usage_days.newest_run_id, old.newest_run_id), SUMS
    where integration_id = old.integration_id and consumer_id = erased and day = old.day;
  return null;
end $$`;
  const sums = ['ended_runs', ...AMOUNTS].map((column) => `${column} = usage_days.${column} + old.${column}`);
  await sql.raw(move.replace('SUMS', sums.join(', '))).execute(db);
  await sql
    .raw(`create trigger keep_erased_usage after delete on usage_days for each row when (old.ended_runs > 0)
      execute function keep_erased_usage()`)
    .execute(db);
}
