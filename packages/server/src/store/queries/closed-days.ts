import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import { raw } from './raw.ts';
import { uncountedIds } from './uncounted.ts';

/** The sums of one day, agent and model, for runs with a member or for runs without one. PostgreSQL returns sums as text. */
export interface DaySum {
  day: number;
  agent: string;
  model: string;
  has_member: number;
  runs: number | string;
  model_runs: number | string;
  newest_run_id: string;
  request_count: number | string;
  input_tokens: number | string;
  cached_tokens: number | string;
  output_tokens: number | string;
  reasoning_tokens: number | string;
  charged_runs: number | string;
  charged_model_runs: number | string;
  charged_tokens: number | string;
  charged_credits: number | string;
}

const SUMS = [
  'runs',
  'model_runs',
  'request_count',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'reasoning_tokens',
  'charged_runs',
  'charged_model_runs',
  'charged_tokens',
  'charged_credits',
];

const HOURS_A_DAY = 24;

/** Sums up the days from `from` to before `to`. */
export const sumDays = (integrationId: string, from: number, to: number) => (db: Kysely<Schema>) => {
  const day = sql`hour / ${sql.lit(HOURS_A_DAY)}`;
  const sums = sql.join(SUMS.map((column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`));
  return raw<DaySum>(
    db,
    sql<DaySum>`select ${day} as day, agent, model, has_member, max(newest_run_id) as newest_run_id, ${sums} from usage_hours
      where integration_id = ${integrationId} and hour >= ${from * HOURS_A_DAY} and hour < ${to * HOURS_A_DAY}
      group by ${day}, agent, model, has_member`,
  );
};

export interface RollupBounds {
  /** The first hour that has sums. */
  first_hour: number | null;
  /** The admission of the oldest run that is not part of the rollups. */
  oldest_uncounted: number | null;
}

export const rollupBounds = (integrationId: string) => (db: Kysely<Schema>) =>
  raw<RollupBounds>(
    db,
    sql<RollupBounds>`select
      (select min(hour) from usage_hours where integration_id = ${integrationId}) as first_hour,
      (select min(created_at) from runs where run_id in ${uncountedIds(db, integrationId)}) as oldest_uncounted`,
  );
