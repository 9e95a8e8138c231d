import { sql } from 'kysely';
import type { IntegrationId } from '../../domain/ids.ts';
import type { Usage } from '../../domain/model/usage.ts';
import { joinMeasuresJson } from '../../domain/run/measures.ts';
import type { RunEndStatus } from '../../domain/run/run-state.ts';
import { statement } from '../statement.ts';
import { DAY_ORDER, HOUR_ORDER } from './locks.ts';
import { raw } from './raw.ts';
import { USAGE_TYPES } from './runs.ts';
import { AMOUNT_COLUMNS, listColumns } from './usage-columns.ts';

/** The key of a row of `usage_hours`. */
export interface HourKey {
  readonly integrationId: IntegrationId;
  readonly hour: number;
  readonly nodeId: string;
  readonly agent: string;
  readonly model: string;
  readonly status: RunEndStatus;
  readonly errorCode: string;
  readonly agencyVersion: string;
  readonly hasMember: number;
  /** 1 for reruns. */
  readonly rerun: number;
}

export interface HourAmounts extends Usage {
  readonly runs: number;
  readonly modelRuns: number;
  readonly chargedRuns: number;
  readonly chargedModelRuns: number;
  readonly chargedTokens: number;
  readonly chargedCredits: number;
  readonly newestRunId: string;
  /** `Measures`, several with commas between them. */
  readonly measuresJson: string;
}

export type UsageHour = HourKey & HourAmounts;

const addHours = (a: UsageHour, b: UsageHour): UsageHour => ({
  ...a,
  runs: a.runs + b.runs,
  modelRuns: a.modelRuns + b.modelRuns,
  requestCount: a.requestCount + b.requestCount,
  inputTokens: a.inputTokens + b.inputTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  chargedRuns: a.chargedRuns + b.chargedRuns,
  chargedModelRuns: a.chargedModelRuns + b.chargedModelRuns,
  chargedTokens: a.chargedTokens + b.chargedTokens,
  chargedCredits: a.chargedCredits + b.chargedCredits,
  newestRunId: a.newestRunId > b.newestRunId ? a.newestRunId : b.newestRunId,
  measuresJson: joinMeasuresJson(a.measuresJson, b.measuresJson),
});

const added = (table: string, columns: readonly string[]) =>
  sql.join(
    columns.map(
      (column) => sql`${sql.ref(column)} = ${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}`,
    ),
  );

const newestRun = (table: string) => {
  const stored = sql.ref(`${table}.newest_run_id`);
  return sql`newest_run_id = case when excluded.newest_run_id > ${stored} then excluded.newest_run_id else ${stored} end`;
};

const addedMeasures = (table: string) =>
  sql`measures_json = add_measures(${sql.ref(`${table}.measures_json`)}, excluded.measures_json)`;

/** The values of `AMOUNT_COLUMNS`. */
const amounts = (p: Usage & Pick<HourAmounts, 'chargedRuns' | 'chargedTokens' | 'chargedCredits'>) =>
  sql.join([
    p.requestCount,
    p.inputTokens,
    p.cachedTokens,
    p.outputTokens,
    p.reasoningTokens,
    p.chargedRuns,
    p.chargedTokens,
    p.chargedCredits,
  ]);

const hourKey = (p: HourKey) =>
  JSON.stringify([
    p.integrationId,
    p.hour,
    p.nodeId,
    p.agent,
    p.model,
    p.status,
    p.errorCode,
    p.agencyVersion,
    p.hasMember,
    p.rerun,
  ]);

/** Raises a row of `usage_hours`. The ends of runs that commit together raise each row once. */
export const raiseUsageHour = statement(
  'raise usage hour',
  (db, p: UsageHour) =>
    raw<never>(
      db,
      sql<never>`insert into usage_hours (integration_id, hour, node_id, agent, model, status, error_code, agency_version,
          has_member, rerun, runs, model_runs, charged_model_runs, ${listColumns(AMOUNT_COLUMNS)}, newest_run_id, measures_json)
        values (${p.integrationId}, ${p.hour}, ${p.nodeId}, ${p.agent}, ${p.model}, ${p.status}, ${p.errorCode},
          ${p.agencyVersion}, ${p.hasMember}, ${p.rerun}, ${p.runs}, ${p.modelRuns}, ${p.chargedModelRuns}, ${amounts(p)},
          ${p.newestRunId}, ${p.measuresJson})
        on conflict (integration_id, hour, node_id, agent, model, status, error_code, agency_version, has_member, rerun)
        do update set ${added('usage_hours', ['runs', 'model_runs', 'charged_model_runs', ...AMOUNT_COLUMNS])},
          ${newestRun('usage_hours')}, ${addedMeasures('usage_hours')}`,
    ),
  {
    last: hourKey,
    combine: addHours,
    gathers: {
      order: HOUR_ORDER,
      types: {
        ...USAGE_TYPES,
        hour: 'bigint',
        hasMember: 'bigint',
        rerun: 'bigint',
        runs: 'bigint',
        modelRuns: 'bigint',
        chargedRuns: 'bigint',
        chargedModelRuns: 'bigint',
        chargedTokens: 'bigint',
        chargedCredits: 'bigint',
      },
      key: hourKey,
    },
  },
);

export interface MemberDay extends Usage {
  readonly integrationId: IntegrationId;
  readonly consumerId: string;
  readonly day: number;
  /** What the runs add to the allowance that the member has used. */
  readonly runs: number;
  readonly tokens: number;
  readonly credits: number;
  readonly endedRuns: number;
  readonly chargedRuns: number;
  readonly chargedTokens: number;
  readonly chargedCredits: number;
  readonly newestRunId: string;
  /** `Measures`, several with commas between them. */
  readonly measuresJson: string;
}

const dayKey = (p: MemberDay) => JSON.stringify([p.integrationId, p.consumerId, p.day]);

/** Raises the member's row of `usage_days`. */
export const raiseMemberDay = statement(
  'raise member day',
  (db, p: MemberDay) =>
    raw<never>(
      db,
      sql<never>`insert into usage_days (integration_id, consumer_id, day, runs, tokens, credits, ended_runs,
          ${listColumns(AMOUNT_COLUMNS)}, newest_run_id, measures_json)
        values (${p.integrationId}, ${p.consumerId}, ${p.day}, ${p.runs}, ${p.tokens}, ${p.credits}, ${p.endedRuns},
          ${amounts(p)}, ${p.newestRunId}, ${p.measuresJson})
        on conflict (integration_id, consumer_id, day) do update set
          ${added('usage_days', ['runs', 'tokens', 'credits', 'ended_runs', ...AMOUNT_COLUMNS])},
          ${newestRun('usage_days')}, ${addedMeasures('usage_days')}`,
    ),
  {
    last: dayKey,
    gathers: {
      order: DAY_ORDER,
      types: {
        ...USAGE_TYPES,
        day: 'bigint',
        runs: 'bigint',
        tokens: 'bigint',
        credits: 'bigint',
        endedRuns: 'bigint',
        chargedRuns: 'bigint',
        chargedTokens: 'bigint',
        chargedCredits: 'bigint',
      },
      key: dayKey,
    },
  },
);

interface Person {
  readonly integrationId: IntegrationId;
  readonly consumerId: string;
}

const DAY_SUMS = ['runs', 'tokens', 'credits', 'credit_millionths', 'ended_runs', ...AMOUNT_COLUMNS] as const;

/** Adds the sums of each day to those of an earlier erasure of the same id. */
export const addUsageDays = statement('add usage days', (db, p: Person & { readonly erasedId: string }) => {
  const sums = listColumns(DAY_SUMS);
  return raw<never>(
    db,
    sql<never>`
      insert into usage_days (integration_id, consumer_id, day, ${sums}, newest_run_id, measures_json)
      select integration_id, ${p.erasedId}, day, ${sums}, newest_run_id, measures_json from usage_days
      where integration_id = ${p.integrationId} and consumer_id = ${p.consumerId}
      on conflict (integration_id, consumer_id, day) do update set
        ${added('usage_days', DAY_SUMS)}, ${newestRun('usage_days')}, ${addedMeasures('usage_days')}`,
  );
});

/** Marks the days as moved. Otherwise PostgreSQL would move their usage again, as it does for a node of an earlier version. */
export const markUsageDaysMoved = statement('mark usage days moved', (db, p: Person) =>
  db
    .updateTable('usage_days')
    .set({ ended_runs: 0 })
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.consumerId),
);

export const deleteUsageDays = statement('delete usage days', (db, p: Person) =>
  db.deleteFrom('usage_days').where('integration_id', '=', p.integrationId).where('consumer_id', '=', p.consumerId),
);
