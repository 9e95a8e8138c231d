import { type Kysely, sql } from 'kysely';
import type { IntegrationId } from '../../domain/ids.ts';
import type { RunStatus } from '../../domain/run/run-state.ts';
import type { Schema } from '../schema.ts';
import { raw } from './raw.ts';

/** What the latency of a run is read from. */
export interface LatencyRow {
  created_at: number;
  completed_at: number | null;
  status: RunStatus;
  first_token_ms: number | null;
  agent: string;
  /** Empty unless the caller asked for it. */
  by_model_json: string;
}

export interface LatencyRange {
  readonly integrationId: IntegrationId;
  readonly fromMs: number;
  readonly toMs: number;
  readonly hasModels: boolean;
}

const listColumns = (hasModels: boolean) =>
  sql`created_at, completed_at, status, first_token_ms, agent, ${hasModels ? sql.ref('by_model_json') : sql`''`} as by_model_json`;

const oldestRuns = ({ integrationId, fromMs, toMs, hasModels }: LatencyRange, maxRuns: number) =>
  sql`select ${listColumns(hasModels)} from runs where integration_id = ${integrationId} and rerun_of is null
    and created_at >= ${fromMs} and created_at < ${toMs} order by created_at limit ${maxRuns}`;

export const runsOfRange = (range: LatencyRange, maxRuns: number) => (db: Kysely<Schema>) =>
  raw<LatencyRow>(db, oldestRuns(range, maxRuns) as ReturnType<typeof sql<LatencyRow>>);

/** Reads the first runs of each part of the range, in one statement. */
export const runsOfParts = (range: LatencyRange, partMs: number, maxRuns: number) => (db: Kysely<Schema>) => {
  const parts = [];
  for (let fromMs = range.fromMs; fromMs < range.toMs; fromMs += partMs) {
    const toMs = Math.min(range.toMs, fromMs + partMs);
    parts.push(sql`select * from (${oldestRuns({ ...range, fromMs, toMs }, maxRuns)}) part`);
  }
  return raw<LatencyRow>(db, sql<LatencyRow>`${sql.join(parts, sql` union all `)}`);
};
