import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { IntegrationId, RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { statement } from '../statement.ts';
import { raw } from './raw.ts';
import { uncountedIds } from './uncounted.ts';
import { AMOUNT_COLUMNS, sumColumns, type UsedAmounts } from './usage-columns.ts';

/** The sums of one day, agent and model, for runs with a member or for runs without one. PostgreSQL returns sums as text. */
export interface DaySum extends UsedAmounts {
  day: number;
  agent: string;
  model: string;
  has_member: number;
  runs: number | string;
  model_runs: number | string;
  newest_run_id: RunId;
  charged_runs: number | string;
  charged_model_runs: number | string;
  charged_tokens: number | string;
  charged_credits: number | string;
  /** `Measures` as JSON, several with commas between them. */
  measures: string;
}

const SUMS = ['runs', 'model_runs', 'charged_model_runs', ...AMOUNT_COLUMNS];

const HOURS_A_DAY = 24;

/** Sums up the days from `from` to before `to`. */
export const sumDays = (integrationId: IntegrationId, from: number, to: number) => (db: Kysely<Schema>) => {
  const day = sql`hour / ${sql.lit(HOURS_A_DAY)}`;
  return raw<DaySum>(
    db,
    sql<DaySum>`select ${day} as day, agent, model, has_member, max(newest_run_id) as newest_run_id,
        string_agg(measures_json, ',') as measures, ${sumColumns(SUMS)} from usage_hours
      where integration_id = ${integrationId} and rerun = 0 and hour >= ${from * HOURS_A_DAY} and hour < ${to * HOURS_A_DAY}
      group by ${day}, agent, model, has_member`,
  );
};

export interface RollupBounds {
  /** The first and the last hour that have sums. */
  first_hour: number | null;
  last_hour: number | null;
  /** The admission of the oldest run that is not part of the rollups. */
  oldest_uncounted: number | null;
}

export const rollupBounds = (integrationId: IntegrationId) => (db: Kysely<Schema>) =>
  raw<RollupBounds>(
    db,
    sql<RollupBounds>`select
      (select min(hour) from usage_hours where integration_id = ${integrationId}) as first_hour,
      (select max(hour) from usage_hours where integration_id = ${integrationId}) as last_hour,
      (select min(created_at) from runs where run_id in ${uncountedIds(db, integrationId)}) as oldest_uncounted`,
  );

/** A member's tokens in some days. */
export interface MemberTokens {
  consumer_id: string;
  tokens: number | string;
  runs: number | string;
  newest_run_id: RunId;
}

interface MemberDays {
  readonly integrationId: IntegrationId;
  /** The first day, and the day after the last. */
  readonly from: number;
  readonly to: number;
}

const memberTokens = ({ integrationId, from, to }: MemberDays, isSelected: RawBuilder<unknown>) =>
  sql`select consumer_id, sum(input_tokens + output_tokens) as tokens, sum(ended_runs) as runs,
      max(newest_run_id) as newest_run_id
    from usage_days where integration_id = ${integrationId} and ${isSelected} and ended_runs > 0
      and day >= ${from} and day < ${to}
    group by consumer_id`;

/** The members with the most tokens among those after one id and up to another. */
export const largestMembers =
  (days: MemberDays, { after, upTo }: { readonly after: string; readonly upTo: string | null }, count: number) =>
  (db: Kysely<Schema>) =>
    raw<MemberTokens>(
      db,
      sql<MemberTokens>`${memberTokens(
        days,
        upTo === null ? sql`consumer_id > ${after}` : sql`consumer_id > ${after} and consumer_id <= ${upTo}`,
      )} order by 2 desc, 3 desc, 1 limit ${count}`,
    );

export const tokensOfMembers = (days: MemberDays, consumers: readonly string[]) => (db: Kysely<Schema>) =>
  raw<MemberTokens>(db, sql<MemberTokens>`${memberTokens(days, sql`consumer_id in (${sql.join(consumers)})`)}`);

/** Returns a value that each erasure of a member of the integration changes, until its row is deleted after 30 days. */
export const erasureMark = statement('erasure mark', (db, p: { integrationId: IntegrationId }) =>
  db
    .selectFrom('erasures')
    .select((eb) => [
      eb.fn.countAll().as('erasures'),
      eb.fn.sum('started_at').as('started'),
      eb.fn.sum('replaced_at').as('replaced'),
    ])
    .where('integration_id', '=', p.integrationId),
);
