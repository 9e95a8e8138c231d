import { type Cost, sumCosts } from '../model/cost.ts';
import type { ModelUsage } from '../model/usage.ts';
import type { RunEndStatus } from './run-state.ts';

/**
 * Named sums about ended runs, which rollups have as JSON:
 *
 *   failed, cancelled   runs that ended so
 *   d7, f3              runs whose duration, and whose time to the first token, is in this bucket
 *   cEUR                costs in millionths
 *   rEUR                runs that have a cost
 *   pEUR                what `rEUR` is for models: each model that a run used and that has a price
 *
 * A run with several models has a row for each. Its first row has these sums. The others have costs, `pEUR`, and the rest
 * with an `m` in front (`mfailed`, `md7`), so that sums by run leave it out and sums by model add it.
 */
export type Measures = Record<string, number>;

/** Begins the names that count only for models. */
const OF_MODELS = 'm';

/** Neighbouring buckets differ by 10 %, so a bucket's value differs by less than 5 % from the times in it. */
const BUCKET_RATIO = Math.log(1.1);

export const toBucket = (ms: number): number => (ms < 1 ? 0 : 1 + Math.round(Math.log(ms) / BUCKET_RATIO));

export const bucketValue = (bucket: number): number =>
  bucket === 0 ? 0 : Math.round(Math.exp((bucket - 1) * BUCKET_RATIO));

/** An ended run's values. */
export interface MeasuredRun {
  readonly status: RunEndStatus;
  /** From admission to the end. */
  readonly durationMs: number;
  readonly firstTokenMs: number | null;
  readonly byModel: readonly ModelUsage[];
  readonly currency: string | null;
}

/** The measures that count a run: once in its sums, and once for each model that it used. */
export function countMeasures({ status, durationMs, firstTokenMs }: MeasuredRun): Measures {
  const counted: Measures = { [`d${toBucket(durationMs)}`]: 1 };
  if (firstTokenMs !== null) counted[`f${toBucket(firstTokenMs)}`] = 1;
  if (status !== 'completed') counted[status] = 1;
  return counted;
}

export const countForModels = (counted: Measures): Measures =>
  Object.fromEntries(Object.entries(counted).map(([name, count]) => [OF_MODELS + name, count]));

/** What one model cost. */
export function costOfModel({ cost }: ModelUsage, currency: string | null): Measures {
  return currency === null || cost === undefined ? {} : { [`c${currency}`]: cost, [`p${currency}`]: 1 };
}

/** Counts the run if its cost is known. */
export function costedRun({ byModel, currency }: MeasuredRun): Measures {
  const cost = sumCosts(byModel, currency);
  return cost === null ? {} : { [`r${cost.currency}`]: 1 };
}

/** All measures that a run adds to sums by run. */
export function measureRun(run: MeasuredRun): Measures {
  const measures = { ...countMeasures(run), ...costedRun(run) };
  for (const model of run.byModel) addMeasures(measures, costOfModel(model, run.currency));
  return measures;
}

/** Adds measures to others, or subtracts them. */
export function addMeasures(to: Measures, more: Measures, sign: 1 | -1 = 1): void {
  for (const name in more) to[name] = (to[name] ?? 0) + sign * (more[name] ?? 0);
}

/** Reads stored measures: several objects with commas between them are their sum. */
export function parseMeasures(json: string): Measures {
  const sums: Measures = {};
  for (const measures of JSON.parse(`[${json}]`) as Measures[]) addMeasures(sums, measures);
  return sums;
}

/**
 * Adds measures as JSON. It changes the text of `sums`, which has about
 * 40 names, because to parse and write it costs 7 kB of memory for each run.
 */
export function addMeasuresJson(sums: string, more: string): string {
  const added = parseMeasures(more);
  let text = sums;
  for (const name in added) text = addToText(text, name, added[name] ?? 0);
  return text;
}

function addToText(sums: string, name: string, amount: number): string {
  const key = `"${name}":`;
  const at = sums.indexOf(key);
  if (at === -1) return `${sums.slice(0, -1)}${sums.endsWith('{}') ? '' : ','}${key}${amount}}`;
  const begin = at + key.length;
  let end = begin;
  while (sums[end] !== ',' && sums[end] !== '}') end += 1;
  return `${sums.slice(0, begin)}${Number(sums.slice(begin, end)) + amount}${sums.slice(end)}`;
}

const JOINED_CHARACTERS = 1000;

/** Leaves the adding to the statement that stores the sum, unless there is much of it. */
export const joinMeasuresJson = (one: string, other: string): string =>
  one.length + other.length > JOINED_CHARACTERS ? addMeasuresJson(one, other) : `${one},${other}`;

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** Measures as a summary shows them. */
export interface MeasuredGroup {
  readonly failed: number;
  readonly cancelled: number;
  /** Null if a run has no cost, and if costs have several currencies. */
  readonly cost: Cost | null;
  readonly durationMs: Percentiles | null;
  readonly firstTokenMs: Percentiles | null;
}

/** Reads what `ended` runs have added, or with `byModel` what models have added in as many runs. */
export function readMeasures(measures: Measures, ended: number, byModel: boolean): MeasuredGroup {
  const get = (name: string) => (measures[name] ?? 0) + (byModel ? (measures[OF_MODELS + name] ?? 0) : 0);
  return {
    failed: get('failed'),
    cancelled: get('cancelled'),
    cost: readCost(measures, ended, byModel ? 'p' : 'r'),
    durationMs: readPercentiles(measures, 'd', byModel),
    firstTokenMs: readPercentiles(measures, 'f', byModel),
  };
}

function readCost(measures: Measures, ended: number, counter: 'p' | 'r'): Cost | null {
  const names = Object.keys(measures).filter((name) => /^c[A-Z]{3}$/.test(name) && measures[name] !== 0);
  const counters = Object.keys(measures).filter((name) => name[0] === counter && (measures[name] ?? 0) > 0);
  const [name] = counters;
  if (name === undefined || counters.length > 1 || measures[name] !== ended) return null;
  const currency = name.slice(1);
  if (names.some((one) => one !== `c${currency}`)) return null;
  return { currency, millionths: measures[`c${currency}`] ?? 0 };
}

function readPercentiles(measures: Measures, kind: 'd' | 'f', byModel: boolean): Percentiles | null {
  const counts = new Map<number, number>();
  let total = 0;
  for (const name in measures) {
    const ofModels = name[0] === OF_MODELS;
    if (name[ofModels ? 1 : 0] !== kind || (ofModels && !byModel)) continue;
    const bucket = Number(name.slice(ofModels ? 2 : 1));
    const count = measures[name] ?? 0;
    if (Number.isNaN(bucket)) continue;
    counts.set(bucket, (counts.get(bucket) ?? 0) + count);
    total += count;
  }
  if (total <= 0) return null;
  const buckets = [...counts].sort(([one], [other]) => one - other);
  const getValue = (part: number) => {
    let left = Math.ceil(part * total);
    for (const [bucket, count] of buckets) {
      left -= count;
      if (left <= 0) return bucketValue(bucket);
    }
    return 0;
  };
  return { p50: getValue(0.5), p95: getValue(0.95) };
}
