import { type Kysely, sql } from 'kysely';
import type { IntegrationId, RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { olderThan, type PageStart } from './page.ts';
import { soughtId } from './sought-id.ts';
import { CHARGE_COLUMNS, USAGE_COLUMNS } from './usage-columns.ts';

/** The runs of an integration that a summary adds up. */
export interface UsageRange {
  readonly integrationId: IntegrationId;
  /** Null for runs without a member. */
  readonly consumerId: string | null | undefined;
  readonly agent: string | undefined;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  /** Later runs are left out, because they were admitted after the list's first page was read. */
  readonly newestRunId: string | null;
}

/** A part of the range: at most `maxRuns` runs older than `before`. */
export interface UsageSlice extends UsageRange {
  readonly before: PageStart | null;
  readonly maxRuns: number;
}

/** Selects a slice's runs, newest first. It may have runs that are too old: see below. */
function listRuns(db: Kysely<Schema>, slice: UsageSlice) {
  const { consumerId, agent, fromMs, toMs, newestRunId, before } = slice;
  const hasMember = consumerId !== undefined && consumerId !== null;
  let query = db.selectFrom('runs').select(['run_id', 'created_at']).where('integration_id', '=', slice.integrationId);
  if (consumerId === null) query = query.where('consumer_id', 'is', null);
  else if (consumerId !== undefined) query = query.where('consumer_id', '=', consumerId);
  // With a member, the expression keeps SQLite from reading the index of agents, as a second bound does below.
  if (agent !== undefined) query = query.where(hasMember ? sql`agent || ''` : 'agent', '=', agent);
  const hasIndex = hasMember || agent !== undefined;
  if (fromMs !== undefined && !hasIndex) query = query.where('created_at', '>=', fromMs);
  const isInTime = toMs === undefined || (before !== null && before.createdAt < toMs);
  if (!isInTime) query = query.where('created_at', '<', toMs);
  if (newestRunId !== null) query = query.where('run_id', '<=', soughtId<RunId>(newestRunId));
  return query
    .where(olderThan(before, 'created_at', 'run_id'))
    .orderBy('created_at', 'desc')
    .orderBy('run_id', 'desc')
    .limit(slice.maxRuns);
}

/** Joins a slice's runs, without runs that are too old: if there are any, the slice is the last. */
const sliceRuns = (db: Kysely<Schema>, slice: UsageSlice) =>
  db
    .with(
      (cte) => cte('slice').materialized(),
      () => listRuns(db, slice),
    )
    .selectFrom('slice')
    // SQLite reads the tables of a cross join in this order.
    .crossJoin('runs')
    .whereRef('runs.run_id', '=', 'slice.run_id')
    .where('slice.created_at', '>=', slice.fromMs ?? 0);

const KEYS = { day: 'runs.day', consumer: 'runs.consumer_id', agent: 'runs.agent' } as const;
export type UsageColumn = keyof typeof KEYS;

/**
 * Sums up a slice's runs by one or two columns. PostgreSQL returns sums and counts as text. Each row has the oldest
 * run of the slice.
 */
export function usageByColumns(slice: UsageSlice, groupBy: UsageColumn, splitBy: UsageColumn | null) {
  const columns = splitBy === null ? [KEYS[groupBy]] : [KEYS[groupBy], KEYS[splitBy]];
  return (db: Kysely<Schema>) =>
    sliceRuns(db, slice)
      .select((eb) => [
        eb.ref(KEYS[groupBy]).as('key'),
        sql<string | number | null>`${splitBy === null ? sql`null` : sql.ref(KEYS[splitBy])}`.as('split'),
        eb.fn.countAll<number | string>().as('runs'),
        eb.fn.max('runs.run_id').as('newest_run_id'),
        ...USAGE_COLUMNS.map((column) => eb.fn.sum<number | string>(column).as(column)),
        ...CHARGE_COLUMNS.map((column) => eb.fn.sum<number | string | null>(column).as(column)),
        sql<number>`(select min(created_at) from slice)`.as('last_created_at'),
        sql<string>`(select run_id from slice order by created_at, run_id limit 1)`.as('last_run_id'),
      ])
      .groupBy(columns);
}

/**
 * Reads a slice's runs with their usage by model, newest first. It is JSON text, which the two databases process
 * differently.
 */
export function usageByModel(slice: UsageSlice) {
  const columns = [
    'day',
    'consumer_id',
    'agent',
    'runs.run_id',
    'runs.created_at',
    'by_model_json',
    'charged_runs',
  ] as const;
  return (db: Kysely<Schema>) =>
    sliceRuns(db, slice).select(columns).orderBy('runs.created_at', 'desc').orderBy('runs.run_id', 'desc');
}
