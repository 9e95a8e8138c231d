import { sql } from 'kysely';
import type { RunId } from '../../domain/ids.ts';
import { statement } from '../statement.ts';
import type { Reads, Tx } from '../store.ts';
import { raw } from './raw.ts';

/*
 * The partitions of `event_chunks`, which only PostgreSQL has:
 *
 *   event_chunks_earlier   ids from before the table had partitions, and some days after
 *   event_chunks_20261118  ids of one day, or of several days if events are kept for long
 *   event_chunks_other     all other ids; empty, unless no partition was added in time
 */

export interface EventPartition {
  readonly name: string;
  /** Contains the ids from `first_id` to before `end_id`. Null for the earliest partition. */
  readonly first_id: string | null;
  readonly end_id: string;
}

/** In the order of their ids. The partition for all other ids is left out. */
const partitions = sql<EventPartition>`select name, first_id, end_id from (
    select c.relname::text as name, substring(bound from 'FROM \\(''([^'']*)') as first_id,
      substring(bound from 'TO \\(''([^'']*)') as end_id
    from pg_inherits i join pg_class c on c.oid = i.inhrelid, pg_get_expr(c.relpartbound, c.oid) as bound
    where i.inhparent = to_regclass('event_chunks')) found
  where end_id is not null order by end_id collate "C"`;

export function eventPartitions(reads: Reads): Promise<EventPartition[]> {
  return reads.query((db) => raw(db, partitions));
}

/** The database's clock, in milliseconds since 1970. */
export async function readDatabaseTime(reads: Reads): Promise<number> {
  const query = sql<{ ms: string }>`select floor(extract(epoch from clock_timestamp()) * 1000) as ms`;
  const [row] = await reads.query((db) => raw(db, query));
  return Number(row?.ms);
}

async function execute(tx: Tx, ...queries: readonly ReturnType<typeof sql>[]): Promise<void> {
  for (const query of queries) await tx.query((db) => raw(db, query));
}

/**
 * Lets one node at a time change partitions. Readers and writers of events are not blocked. While a later statement of the
 * transaction waits for a stronger lock, they wait too, so it does not wait for long.
 */
export function lockPartitions(tx: Tx): Promise<void> {
  return execute(
    tx,
    sql`set local lock_timeout = '300ms'`,
    sql`lock table only event_chunks in share update exclusive mode`,
  );
}

/** Call it after `lockPartitions`. Rows that were stored elsewhere because the partition was missing are moved to it. */
export function addPartition(tx: Tx, { name, first_id: from, end_id: end }: EventPartition): Promise<void> {
  const table = sql.table(name);
  return execute(
    tx,
    sql`lock table event_chunks_other in access exclusive mode`,
    sql`create table ${table} (like event_chunks including all)`,
    sql`with moved as (delete from event_chunks_other where run_id >= ${sql.lit(from)} and run_id < ${sql.lit(end)}
      returning run_id, first_id, last_id, data)
      insert into ${table} (run_id, first_id, last_id, data) select run_id, first_id, last_id, data from moved`,
    sql`alter table event_chunks attach partition ${table} for values from (${sql.lit(from)}) to (${sql.lit(end)})`,
  );
}

/** Call it after `lockPartitions`. Until the transaction ends, no row of the partition changes. */
export function lockPartition(tx: Tx, { name }: EventPartition): Promise<void> {
  return execute(tx, sql`lock table ${sql.table(name)} in share row exclusive mode`);
}

/** Locks all partitions for a moment. */
export function dropPartition(tx: Tx, { name }: EventPartition): Promise<void> {
  return execute(tx, sql`drop table ${sql.table(name)}`);
}

export interface RunWithoutCompacted {
  readonly run_id: RunId;
  readonly compacted_at: number | null;
}

/** Reads runs with ids in a range that have events and no compacted ones. PostgreSQL reads only the partition of the range. */
export function runsWithoutCompacted(
  reads: Reads,
  { from, end }: { from: string; end: string },
): Promise<RunWithoutCompacted[]> {
  const query = sql<RunWithoutCompacted>`
    select w.run_id, r.compacted_at from (
      select distinct c.run_id from event_chunks c
      where c.run_id >= ${from} and c.run_id < ${end} and not exists (select 1 from compacted_chunks k
        where k.run_id = c.run_id and k.run_id >= ${from} and k.run_id < ${end}) limit 500) w
    left join runs r on r.run_id = w.run_id`;
  return reads.query((db) => raw(db, query));
}

/**
 * Returns a row if the events of the run exist, and locks them: a concurrent deletion of its chat or person waits, and then
 * deletes the compacted events too.
 */
export const lockEvents = statement(
  'lock events',
  (db, p: { runId: RunId }) =>
    db
      .selectFrom('event_chunks')
      .select('first_id')
      .where('run_id', '=', p.runId)
      .orderBy('first_id')
      .limit(1)
      .forShare(),
  { locks: true },
);

/** For a run that a node of the version before compacted: it leaves the compacted chunks among the others. */
export const moveToCompacted = statement('move to compacted', (db, p: { runId: RunId }) =>
  db
    .insertInto('compacted_chunks')
    .columns(['run_id', 'first_id', 'last_id', 'data'])
    .expression((eb) =>
      eb.selectFrom('event_chunks').select(['run_id', 'first_id', 'last_id', 'data']).where('run_id', '=', p.runId),
    )
    .onConflict((c) => c.columns(['run_id', 'first_id']).doNothing()),
);
