import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import { olderThan, type PageStart } from './page.ts';

/** The runs of an integration in a range of admission times, for a summary. */
export interface UsageRange {
  readonly integrationId: string;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  /** Later runs are left out, because they were admitted after the first page of the list was read. */
  readonly newestRunId: string | null;
}

/** A part of the range: the runs older than `before`, down to `last` if it is set. */
export interface UsageSlice extends UsageRange {
  readonly before: PageStart | null;
  readonly last: PageStart | null;
}

function runsIn(db: Kysely<Schema>, range: UsageRange, before: PageStart | null) {
  let query = db.selectFrom('runs').where('integration_id', '=', range.integrationId);
  if (range.fromMs !== undefined) query = query.where('created_at', '>=', range.fromMs);
  if (range.toMs !== undefined) query = query.where('created_at', '<', range.toMs);
  if (range.newestRunId !== null) query = query.where('run_id', '<=', range.newestRunId);
  return query.where(olderThan(before, 'created_at', 'run_id'));
}

function runsOf(db: Kysely<Schema>, slice: UsageSlice) {
  const { last } = slice;
  const query = runsIn(db, slice, slice.before);
  if (last === null) return query;
  return query.where(
    sql<boolean>`(created_at > ${last.createdAt} or (created_at = ${last.createdAt} and run_id >= ${last.id}))`,
  );
}

/** Reads the run at which a slice of `runs` runs ends. Returns no row if fewer runs remain. */
export function sliceEnd(range: UsageRange, before: PageStart | null, runs: number) {
  return (db: Kysely<Schema>) =>
    runsIn(db, range, before)
      .select(['created_at', 'run_id'])
      .orderBy('created_at', 'desc')
      .orderBy('run_id', 'desc')
      .limit(1)
      .offset(runs - 1);
}

const KEYS = { day: 'day', consumer: 'consumer_id', agent: 'agent' } as const;

/** Sums up the runs of a slice by a column. PostgreSQL returns sums and counts as text. */
export function usageByColumn(slice: UsageSlice, groupBy: keyof typeof KEYS) {
  const column = KEYS[groupBy];
  return (db: Kysely<Schema>) =>
    runsOf(db, slice)
      .select((eb) => [
        eb.ref(column).as('key'),
        eb.fn.countAll<number | string>().as('runs'),
        eb.fn.max('run_id').as('newest_run_id'),
        eb.fn.sum<number | string>('request_count').as('request_count'),
        eb.fn.sum<number | string>('input_tokens').as('input_tokens'),
        eb.fn.sum<number | string>('cached_tokens').as('cached_tokens'),
        eb.fn.sum<number | string>('output_tokens').as('output_tokens'),
        eb.fn.sum<number | string>('reasoning_tokens').as('reasoning_tokens'),
        eb.fn.sum<number | string | null>('charged_runs').as('charged_runs'),
        eb.fn.sum<number | string | null>('charged_tokens').as('charged_tokens'),
        eb.fn.sum<number | string | null>('charged_credits').as('charged_credits'),
      ])
      .groupBy(column);
}

/**
 * Reads the runs of a slice with their usage by model. It is JSON text, which the two databases process differently.
 */
export function usageByModel(slice: UsageSlice) {
  return (db: Kysely<Schema>) => runsOf(db, slice).select(['run_id', 'by_model_json', 'charged_runs']);
}
