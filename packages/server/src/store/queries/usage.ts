import { type Kysely, sql } from 'kysely';
import type { IntegrationId, RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { integrationOfReruns, notIndexed } from './chosen-rows.ts';
import { olderThan, type PageStart } from './page.ts';
import { soughtId } from './sought-id.ts';
import { AMOUNT_COLUMNS } from './usage-columns.ts';

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
  /** True: only reruns. False: no reruns. */
  readonly rerun: boolean;
}

/** A part of the range: at most `maxRuns` runs older than `before`. */
export interface UsageSlice extends UsageRange {
  readonly before: PageStart | null;
  readonly maxRuns: number;
}

/**
 * Selects a slice's runs, newest first. It may have runs that are too old, see below, and reruns: the end of a slice is known by its
 * size.
 */
function listRuns(db: Kysely<Schema>, slice: UsageSlice) {
  const { integrationId, consumerId, agent, fromMs, toMs, newestRunId, before, rerun } = slice;
  const runs = db.selectFrom('runs').select(['run_id', 'created_at']);
  let query = rerun
    ? runs.where(integrationOfReruns, '=', integrationId).where('rerun_of', 'is not', null)
    : runs.where('integration_id', '=', integrationId);
  const hasMember = consumerId !== undefined && consumerId !== null;
  if (consumerId === null) query = query.where('consumer_id', 'is', null);
  else if (consumerId !== undefined)
    query = query.where(rerun ? notIndexed('consumer_id') : 'consumer_id', '=', consumerId);
  // With a member, the expression keeps SQLite from reading the index of agents, as a second bound does below.
  if (agent !== undefined) query = query.where(hasMember || rerun ? notIndexed('agent') : 'agent', '=', agent);
  const hasIndex = hasMember || agent !== undefined || rerun;
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

/** Reads a slice's runs, newest first, with what a summary adds up. */
export const usageOfRuns = (slice: UsageSlice) => (db: Kysely<Schema>) =>
  sliceRuns(db, slice)
    .select([
      sql<null>`null`.as('hour'),
      'runs.day',
      'runs.consumer_id',
      'runs.agent',
      sql<null>`null`.as('model'),
      'runs.error_code',
      'runs.agency_version',
      sql<number>`1`.as('runs'),
      'runs.run_id as newest_run_id',
      sql<string>`''`.as('measures'),
      'runs.by_model_json',
      'runs.status',
      'runs.created_at',
      'runs.completed_at',
      'runs.first_token_ms',
      'runs.currency',
      'runs.rerun_of',
      ...AMOUNT_COLUMNS.map((column) => `runs.${column}` as const),
    ])
    .orderBy('runs.created_at', 'desc')
    .orderBy('runs.run_id', 'desc');
