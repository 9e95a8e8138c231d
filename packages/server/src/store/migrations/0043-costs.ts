import { type Kysely, sql } from 'kysely';
import { areEarlierNodesRefused } from '../earlier-nodes.ts';
import type { StoreKind } from '../store.ts';

/** The currency for costs in `by_model_json`, and named sums in the rollups. An earlier version's nodes write neither. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  await db.schema.alterTable('runs').addColumn('currency', text).execute();
  for (const table of ['usage_hours', 'usage_days'])
    await db.schema
      .alterTable(table)
      .addColumn('measures_json', text, (c) => c.notNull().defaultTo('{}'))
      .execute();
  if (kind === 'sqlite') return;
  // SQLite has the function from `sqlite/functions.ts`. In plpgsql PostgreSQL keeps the query's plan.
  await sql
    .raw(`create or replace function add_measures(one text, other text) returns text language plpgsql immutable as $$
begin
  return (select coalesce(jsonb_object_agg(name, total), '{}')::text from (
    select name, sum(amount::bigint) as total from (
      select key as name, value as amount from jsonb_each_text(one::jsonb)
      union all select key, value from jsonb_each_text(other::jsonb)) amounts
    group by name) totals);
end $$`)
    .execute(db);
  if (!(await areEarlierNodesRefused(db))) await followEarlierNodes(db);
}

/** An earlier version's node erases a person without moving the column, which it does not know. */
async function followEarlierNodes(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`create function keep_erased_measures() returns trigger language plpgsql as $$
begin
  update usage_days set measures_json = add_measures(usage_days.measures_json, old.measures_json)
    where integration_id = old.integration_id and day = old.day and consumer_id =
      (select erased_id from erasures where integration_id = old.integration_id and consumer_id = old.consumer_id);
  return null;
end $$`)
    .execute(db);
  await sql
    .raw(`create trigger keep_erased_measures after delete on usage_days for each row when (old.ended_runs > 0)
      execute function keep_erased_measures()`)
    .execute(db);
}
