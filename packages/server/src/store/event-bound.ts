import { type QueryExecutorProvider, sql } from 'kysely';
import { firstRunId } from '../domain/ids.ts';

const DAY_MS = 86_400_000;
/** The sweep adds the next partitions in this time, two days before they are needed. */
const NEAR_DAYS = 4;
/** If the migration is never completed, nodes of the version before can store events for so long. */
const FAR_DAYS = 30;
/** PostgreSQL reads a table of this size in less than 100 ms. */
const SMALL_BYTES = 64 * 1024 * 1024;

const startOfDay = (ms: number) => ms - (ms % DAY_MS);
const boundIn = (days: number) => firstRunId(startOfDay(Date.now()) + days * DAY_MS);

interface EventTable {
  bytes: number;
  /** The definition of the constraint `event_chunks_bound`, or null if the table has none. */
  bound: string | null;
}

async function readEventTable(db: QueryExecutorProvider): Promise<EventTable | undefined> {
  const query = sql<EventTable>`select pg_relation_size(c.oid) as bytes, (select pg_get_constraintdef(k.oid)
      from pg_constraint k where k.conrelid = c.oid and k.conname = 'event_chunks_bound') as bound
    from pg_class c where c.oid = to_regclass('event_chunks') and c.relkind = 'r'`;
  return (await query.execute(db)).rows[0];
}

const idIn = (definition: string | null | undefined): string | undefined => /'(run_[^']+)'/.exec(definition ?? '')?.[1];

/**
 * For the migration that makes the table of events the first partition of a new one: returns the first id that the
 * partition does not contain.
 */
export async function readEventBound(db: QueryExecutorProvider): Promise<string> {
  return idIn((await readEventTable(db))?.bound) ?? boundIn(NEAR_DAYS);
}

/**
 * The migration locks the table of events while PostgreSQL checks that all rows belong to the first partition. For a large
 * table `addBound` adds a constraint before the migration, which PostgreSQL checks without this lock; then the migration
 * reads no rows. If the migration fails, the constraint is removed.
 */
export async function withEventBound(
  db: QueryExecutorProvider,
  migrate: (addBound: () => Promise<void>) => Promise<void>,
  smallBytes = SMALL_BYTES,
): Promise<void> {
  try {
    await migrate(() => addEventBound(db, smallBytes));
  } catch (error) {
    await sql`alter table if exists event_chunks drop constraint if exists event_chunks_bound`
      .execute(db)
      // The first error is the one to report.
      .catch(() => {});
    throw error;
  }
}

async function addEventBound(db: QueryExecutorProvider, smallBytes: number): Promise<void> {
  const table = await readEventTable(db);
  if (table === undefined || table.bytes <= smallBytes) return;
  // Left by a start that was killed. Soon it would refuse new rows.
  const isOld = table.bound !== null && (idIn(table.bound) ?? '') < boundIn(NEAR_DAYS);
  if (isOld) await sql`alter table event_chunks drop constraint event_chunks_bound`.execute(db);
  if (isOld || table.bound === null) {
    await sql`alter table event_chunks add constraint event_chunks_bound
      check (run_id < ${sql.lit(boundIn(FAR_DAYS))}) not valid`.execute(db);
  }
  await sql`alter table event_chunks validate constraint event_chunks_bound`.execute(db);
}
