import { type Kysely, sql } from 'kysely';
import { dropSuperseded, refuseEarlierNodes } from '../earlier-nodes.ts';
import type { StoreKind } from '../store.ts';

/** The columns of `active_runs`, from those of a run. */
const activeColumns = (run: string) =>
  sql.raw(
    `${run}.integration_id, coalesce(${run}.consumer_id, ''), ${run}.chat_key, ${run}.run_id, ${run}.node_id, ${run}.held, ${run}.unit, ${run}.day`,
  );
const unsuccessfulColumns = (run: string) =>
  sql.raw(`${run}.integration_id, ${run}.status, ${run}.created_at, ${run}.run_id`);

/**
 * Small tables instead of indexes that the end of a run changes: on SQLite each index is one more page to write, and on
 * PostgreSQL a changed index keeps the database from updating the row in place.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;
  // A node of an earlier version writes no generation.
  await db.schema
    .alterTable('nodes')
    .addColumn('generation', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  // What this version has written of the run besides its row. A node of an earlier version leaves it at 0.
  await db.schema
    .alterTable('runs')
    .addColumn('tracked', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable('runs').addColumn('only_step_json', text).execute();

  await db.schema
    .createTable('active_runs')
    .addColumn('integration_id', text, (c) => c.notNull())
    // Empty if the run has no member.
    .addColumn('consumer_id', text, (c) => c.notNull())
    .addColumn('chat_key', text, (c) => c.notNull())
    .addColumn('run_id', text, (c) => c.notNull())
    .addColumn('node_id', text, (c) => c.notNull())
    .addColumn('held', 'bigint', (c) => c.notNull())
    .addColumn('unit', text)
    .addColumn('day', 'integer', (c) => c.notNull())
    // A chat has one member, so the key allows one active run per chat.
    .addPrimaryKeyConstraint('active_runs_key', ['integration_id', 'consumer_id', 'chat_key'])
    .modifyEnd(clustered)
    .execute();
  await db.schema
    .createTable('unsuccessful_runs')
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('run_id', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('unsuccessful_runs_key', ['integration_id', 'status', 'created_at', 'run_id'])
    .modifyEnd(clustered)
    .execute();

  // Nodes of the earlier version wait here until the triggers exist, so no run is missed.
  if (kind === 'postgres') await sql`lock table runs in share row exclusive mode`.execute(db);
  await sql`insert into active_runs select ${activeColumns('runs')} from runs where status in ('admitted', 'running')`.execute(
    db,
  );
  // The second condition is the one of the index `runs_finished`, so that not all runs are read.
  await sql`insert into unsuccessful_runs select ${unsuccessfulColumns('runs')} from runs
    where status in ('failed', 'cancelled') and status in ('completed', 'failed', 'cancelled')`.execute(db);
  if (kind === 'postgres') {
    await trackEarlierNodes(db);
    // Room for the later versions of a row in its page.
    await sql`alter table runs set (fillfactor = 70)`.execute(db);
    if (!(await refuseEarlierNodes(db))) return;
  }
  await dropSuperseded(db, kind);
}

/** Triggers that write the new tables for the earlier version's nodes. They are dropped with the last of these nodes. */
async function trackEarlierNodes(db: Kysely<unknown>): Promise<void> {
  const own = sql`where integration_id = new.integration_id and consumer_id = coalesce(new.consumer_id, '')
      and chat_key = new.chat_key and run_id = new.run_id`;
  await sql`create function track_run() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into active_runs select ${activeColumns('new')};
  elsif new.status in ('completed', 'failed', 'cancelled') then
    delete from active_runs ${own};
    if new.status <> 'completed' then
      insert into unsuccessful_runs select ${unsuccessfulColumns('new')} on conflict do nothing;
    end if;
  else
    update active_runs set node_id = new.node_id ${own};
  end if;
  return null;
end $$`.execute(db);
  await sql`create trigger track_admission after insert on runs for each row when (new.tracked = 0)
    execute function track_run()`.execute(db);
  await sql`create trigger track_change after update of status, node_id on runs for each row
    when (new.tracked < 2 and (new.status in ('completed', 'failed', 'cancelled') or old.node_id <> new.node_id))
    execute function track_run()`.execute(db);
}
