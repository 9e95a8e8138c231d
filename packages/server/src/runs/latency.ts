import { LruCache } from '@runwire/lib/lru-cache.ts';
import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import type { IntegrationId } from '../domain/ids.ts';
import type { ModelUsage } from '../domain/model/usage.ts';
import { Refusal } from '../domain/refusal.ts';
import { admissionTimes, HOUR_MS, iso } from '../domain/time.ts';
import { type LatencyRange, type LatencyRow, runsOfParts, runsOfRange } from '../store/queries/latency.ts';
import type { Reads } from '../store/store.ts';
import type { ClosedDays } from './closed-days.ts';

export interface LatencyQuery {
  readonly agent?: string;
  readonly model?: string;
  readonly from?: string;
  readonly to?: string;
}

interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

export interface DayLatency {
  readonly day: string;
  readonly runs: number;
  readonly sampled: boolean;
  readonly durationMs: Percentiles;
  /** Null if no run of the day has a first token. */
  readonly firstTokenMs: Percentiles | null;
}

const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
/** Runs that are read of a day. A day with more runs is read in parts: the first runs of each hour. */
const RUNS_A_DAY = 2_400;
const RUNS_AN_HOUR = RUNS_A_DAY / 24;
/** An estimated 3 MB. */
const MAX_KEPT = 10_000;

interface StoredRuns {
  readonly reads: Reads;
  readonly takeTurn: TakeTurn;
}

/** Sums up the latency of an integration's runs by day. What is read of a day is bounded, and closed days are kept. */
export class Latency {
  readonly #closedDays: ClosedDays;
  /** Null for a day without completed runs. */
  readonly #kept = new LruCache<string, DayLatency | null>(MAX_KEPT);

  constructor(closedDays: ClosedDays) {
    this.#closedDays = closedDays;
  }

  async summary(source: StoredRuns, integrationId: IntegrationId, query: LatencyQuery) {
    const { fromMs, toMs } = readTimes(query);
    const days = { from: Math.ceil(fromMs / DAY_MS), to: Math.floor(toMs / DAY_MS) };
    const closed = await this.#closedDays.find(source.reads, integrationId, days);
    const items: DayLatency[] = [];
    for (let day = Math.ceil(toMs / DAY_MS) - 1; day >= Math.floor(fromMs / DAY_MS); day -= 1) {
      const isClosed = closed !== null && day >= closed.from && day < closed.to;
      const found = await this.#readDay(source, integrationId, day, { query, fromMs, toMs, isClosed });
      if (found !== null) items.push(found);
    }
    return { from: iso(fromMs), to: iso(toMs), items };
  }

  async #readDay({ reads, takeTurn }: StoredRuns, integrationId: IntegrationId, day: number, asked: AskedDay) {
    const { query, isClosed } = asked;
    const key = JSON.stringify([integrationId, day, query.agent, query.model]);
    const kept = isClosed ? this.#kept.get(key) : undefined;
    if (kept !== undefined) return kept;
    using _turn = await takeTurn();
    const fromMs = Math.max(asked.fromMs, day * DAY_MS);
    const toMs = Math.min(asked.toMs, (day + 1) * DAY_MS);
    const range = { integrationId, fromMs, toMs, hasModels: query.model !== undefined };
    const { rows, sampled } = await readRuns(reads, range);
    const found = sumUp(new Date(day * DAY_MS).toISOString().slice(0, 10), sampled, selectRuns(rows, query));
    if (isClosed) this.#kept.set(key, found);
    return found;
  }
}

interface AskedDay {
  readonly query: LatencyQuery;
  readonly fromMs: number;
  readonly toMs: number;
  readonly isClosed: boolean;
}

function readTimes(query: LatencyQuery) {
  const { fromMs, toMs = Date.now() } = admissionTimes(query);
  const firstMs = fromMs ?? Math.floor(toMs / DAY_MS) * DAY_MS - (DEFAULT_DAYS - 1) * DAY_MS;
  if (toMs - firstMs > MAX_DAYS * DAY_MS) {
    throw new Refusal('invalid_request', `\`from\` and \`to\` are more than ${MAX_DAYS} days apart; ask for a part.`);
  }
  return { fromMs: firstMs, toMs };
}

/** Every run of a day, or the first ones of each hour if there are too many. */
async function readRuns(reads: Reads, range: LatencyRange) {
  const rows = await reads.query(runsOfRange(range, RUNS_A_DAY + 1));
  if (rows.length <= RUNS_A_DAY) return { rows, sampled: false };
  return { rows: await reads.query(runsOfParts(range, HOUR_MS, RUNS_AN_HOUR)), sampled: true };
}

/** Runs that failed or were cancelled end earlier than their answer would have, so they do not count. */
function selectRuns(rows: readonly LatencyRow[], { agent, model }: LatencyQuery): LatencyRow[] {
  return rows.filter(
    (row) =>
      row.status === 'completed' &&
      (agent === undefined || row.agent === agent) &&
      (model === undefined || hasUsed(row.by_model_json, model)),
  );
}

const hasUsed = (json: string, model: string) => (JSON.parse(json) as ModelUsage[]).some((one) => one.model === model);

function sumUp(day: string, sampled: boolean, rows: readonly LatencyRow[]): DayLatency | null {
  const durationMs = toPercentiles(rows.map((row) => Math.max(0, Number(row.completed_at) - Number(row.created_at))));
  if (durationMs === null) return null;
  const firstTokens = rows.flatMap((row) => (row.first_token_ms === null ? [] : [Number(row.first_token_ms)]));
  return { day, runs: rows.length, sampled, durationMs, firstTokenMs: toPercentiles(firstTokens) };
}

/** The smallest value that at least this part of all values does not exceed. Null if there are none. */
function toPercentiles(values: readonly number[]): Percentiles | null {
  const sorted = values.toSorted((one, other) => one - other);
  const getValue = (part: number) => sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
  return sorted.length === 0 ? null : { p50: getValue(0.5), p95: getValue(0.95) };
}
