/* Adds up the runs in another way than the server does, and compares the rollups with them. */

import { parseMeasures, toBucket } from '../../packages/server/src/domain/run/measures.ts';

type Row = Record<string, unknown>;

const HOUR_MS = 3_600_000;
const USAGE = {
  request_count: 'requestCount',
  input_tokens: 'inputTokens',
  cached_tokens: 'cachedTokens',
  output_tokens: 'outputTokens',
  reasoning_tokens: 'reasoningTokens',
} as const;
const CHARGE = ['charged_runs', 'charged_tokens', 'charged_credits'] as const;
const KEY = [
  'integration_id',
  'hour',
  'node_id',
  'agent',
  'model',
  'status',
  'error_code',
  'agency_version',
  'has_member',
];

/** Sums by key and column. The newest run is the largest id. */
class Sums {
  readonly #sums = new Map<string, number | string>();

  add(key: readonly unknown[], column: string, amount: unknown): void {
    const name = JSON.stringify([...key, column]);
    const known = this.#sums.get(name);
    if (column === 'newest_run_id') {
      if (known === undefined || String(amount) > String(known)) this.#sums.set(name, String(amount));
    } else this.#sums.set(name, Number(known ?? 0) + Number(amount ?? 0));
  }

  get size(): number {
    return this.#sums.size;
  }

  /** The names of sums that differ. Zero is the same as no sum. */
  differing(other: Sums): string[] {
    const names = new Set([...this.#sums.keys(), ...other.#sums.keys()]);
    return [...names].filter((name) => (this.#sums.get(name) ?? 0) !== (other.#sums.get(name) ?? 0));
  }
}

/**
 * Adds each run under all its columns with `*` for all models, and under each of its models.
 */
export async function differingRollups(ask: (text: string) => Promise<Row[]>) {
  const [fromRuns, fromRollups] = [new Sums(), new Sums()];
  for (const run of await ask(`select * from runs where status in ('completed', 'failed', 'cancelled')`)) {
    addRun(fromRuns, run);
  }
  for (const row of await ask('select * from usage_hours')) {
    const key = ['hours', ...KEY.map((column) => plainValue(row[column]))];
    const all = ['hours', ...KEY.map((column) => (column === 'model' ? '*' : plainValue(row[column])))];
    for (const column of [...Object.keys(USAGE), ...CHARGE, 'runs', 'newest_run_id']) {
      fromRollups.add(all, column, row[column]);
      if (row.model !== '' && !['runs', 'charged_runs'].includes(column)) fromRollups.add(key, column, row[column]);
    }
    for (const [name, amount] of readMeasures(row)) {
      if (!/^(p|m)/.test(name)) fromRollups.add(all, name, amount);
      if (row.model !== '' && !name.startsWith('r')) fromRollups.add(key, name.replace(/^m/, ''), amount);
    }
    if (row.model === '') continue;
    fromRollups.add(key, 'runs', row.model_runs);
    fromRollups.add(key, 'charged_runs', row.charged_model_runs);
  }
  for (const row of await ask('select * from usage_days where ended_runs > 0')) {
    const key = ['days', row.integration_id, row.consumer_id, Number(row.day)];
    for (const column of [...Object.keys(USAGE), ...CHARGE, 'newest_run_id']) fromRollups.add(key, column, row[column]);
    fromRollups.add(key, 'runs', row.ended_runs);
    for (const [name, amount] of readMeasures(row)) if (!name.startsWith('p')) fromRollups.add(key, name, amount);
  }
  return { rows: fromRuns.size, differing: fromRuns.differing(fromRollups) };
}

const readMeasures = (row: Row) => Object.entries(parseMeasures(String(row.measures_json)));

/** What a run's measures count besides its cost. */
function countedMeasures(run: Row): string[] {
  const counted = [`d${toBucket(Number(run.completed_at) - Number(run.created_at))}`];
  if (run.first_token_ms !== null) counted.push(`f${toBucket(Number(run.first_token_ms))}`);
  if (run.status !== 'completed') counted.push(String(run.status));
  return counted;
}

const plainValue = (value: unknown) => (typeof value === 'string' ? value : Number(value));

function addRun(sums: Sums, run: Row): void {
  const columns: Row = {
    ...run,
    hour: Math.floor(Number(run.created_at) / HOUR_MS),
    error_code: run.error_code ?? '',
    agency_version: run.agency_version ?? '',
    has_member: run.consumer_id === null ? 0 : 1,
  };
  const key = (model: string) => [
    'hours',
    ...KEY.map((column) => (column === 'model' ? model : plainValue(columns[column]))),
  ];
  const keys: unknown[][] = [key('*')];
  if (run.consumer_id !== null) keys.push(['days', run.integration_id, run.consumer_id, Number(run.day)]);
  for (const one of keys) {
    for (const column of [...Object.keys(USAGE), ...CHARGE]) sums.add(one, column, run[column]);
    sums.add(one, 'runs', 1);
    sums.add(one, 'newest_run_id', run.run_id);
    for (const name of countedMeasures(run)) sums.add(one, name, 1);
    if (run.currency === null) continue;
    const costs = (JSON.parse(String(run.by_model_json)) as Row[]).map(({ cost }) => cost);
    for (const cost of costs) sums.add(one, `c${run.currency}`, cost);
    if (!costs.includes(undefined)) sums.add(one, `r${run.currency}`, 1);
  }
  const isCharged = Number(run.charged_runs) > 0;
  for (const used of JSON.parse(String(run.by_model_json)) as Row[]) {
    const one = key(String(used.model));
    for (const [column, name] of Object.entries(USAGE)) sums.add(one, column, used[name]);
    sums.add(one, 'runs', 1);
    sums.add(one, 'newest_run_id', run.run_id);
    for (const name of countedMeasures(run)) sums.add(one, name, 1);
    if (run.currency !== null && used.cost !== undefined) {
      sums.add(one, `c${run.currency}`, used.cost);
      sums.add(one, `p${run.currency}`, 1);
    }
    if (!isCharged) continue;
    sums.add(one, 'charged_runs', 1);
    sums.add(one, 'charged_tokens', Number(used.inputTokens) + Number(used.outputTokens));
    sums.add(one, 'charged_credits', used.credits);
  }
}
