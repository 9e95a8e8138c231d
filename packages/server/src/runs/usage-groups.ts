import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import { addUsage, type ModelUsage, NO_USAGE, totalTokens, type Usage } from '../domain/model/usage.ts';
import type { PageStart } from '../store/queries/page.ts';
import type { SumRow } from '../store/queries/rollup-sums.ts';
import { type UsageColumn, type UsageRange, type UsageSlice, usageByModel } from '../store/queries/usage.ts';
import type { Reads } from '../store/store.ts';
import type { ClosedDays } from './closed-days.ts';
import { readSlice } from './usage-slices.ts';

export type UsageKey = UsageColumn | 'model';

export interface UsageGrouping {
  readonly groupBy: UsageKey;
  readonly splitBy: UsageKey | null;
  /** Adds up only what this model used. Null: all models. */
  readonly model: string | null;
  /** Returns the value under which a value of `splitBy` counts. */
  readonly getSplit: (value: string | null) => string | null;
}

export interface UsageGroup {
  readonly key: string | null;
  readonly split: string | null;
  runs: number;
  newestRunId: string;
  usage: Usage;
  charged: { runs: number; tokens: number; credits: number };
}

type Amounts = Omit<UsageGroup, 'key' | 'split'>;

const DAY_MS = 86_400_000;

export interface UsageSource {
  readonly reads: Reads;
  /** Each slice waits for its owner's turn. */
  readonly takeTurn: TakeTurn;
  readonly closedDays: ClosedDays;
}

/** True if the sums are those of models, not of runs. */
export const isByModel = ({ groupBy, splitBy, model }: UsageGrouping): boolean =>
  groupBy === 'model' || splitBy === 'model' || model !== null;

/** Adds up runs and sums of runs. */
export class UsageGroups {
  readonly #source: UsageSource;
  readonly #grouping: UsageGrouping;
  readonly #byKey: GroupMap = new Map();

  constructor(source: UsageSource, grouping: UsageGrouping) {
    this.#source = source;
    this.#grouping = grouping;
  }

  all(): UsageGroup[] {
    return listGroups(this.#byKey).filter(({ runs }) => runs > 0);
  }

  /** Adds up a range's runs, in slices of `maxRuns` runs: on the embedded store nothing else happens during a query. */
  async addRuns(range: UsageRange, maxRuns: number): Promise<void> {
    const { reads, takeTurn } = this.#source;
    let before: PageStart | null = null;
    for (;;) {
      using _turn = await takeTurn();
      const slice: UsageSlice = { ...range, before, maxRuns };
      const last: PageStart | null = await this.#addSlice(reads, slice);
      if (last === null) return;
      before = last;
    }
  }

  /** Adds sums and uncounted runs. */
  addRows(rows: readonly SumRow[]): void {
    for (const row of rows) {
      const { by_model_json: models } = row;
      if (models !== null && isByModel(this.#grouping)) {
        const isCharged = Number(row.charged_runs) > 0;
        this.#addModels({ ...row, run_id: row.newest_run_id, by_model_json: models, isCharged });
      } else this.addSum(row);
    }
  }

  /** With `sign` -1 the sum is subtracted. Its newest run is not. */
  addSum(row: SumRow, sign: 1 | -1 = 1): void {
    const { groupBy, splitBy } = this.#grouping;
    const values = { day: row.day, consumer: row.consumer_id, agent: row.agent, model: row.model };
    this.#add(shown(values[groupBy]), splitBy === null ? null : shown(values[splitBy]), {
      runs: sign * Number(row.runs),
      newestRunId: row.newest_run_id,
      usage: {
        requestCount: sign * Number(row.request_count),
        inputTokens: sign * Number(row.input_tokens),
        cachedTokens: sign * Number(row.cached_tokens),
        outputTokens: sign * Number(row.output_tokens),
        reasoningTokens: sign * Number(row.reasoning_tokens),
      },
      charged: {
        runs: sign * Number(row.charged_runs ?? 0),
        tokens: sign * Number(row.charged_tokens ?? 0),
        credits: sign * Number(row.charged_credits ?? 0),
      },
    });
  }

  /** Resolves to the slice's oldest run, or to null if no runs remain. */
  async #addSlice(reads: Reads, slice: UsageSlice): Promise<PageStart | null> {
    const { groupBy, splitBy, model } = this.#grouping;
    if (groupBy === 'model' || splitBy === 'model' || model !== null) return this.#addByModel(reads, slice);
    const { rows, last } = await readSlice(reads, slice, groupBy, splitBy);
    for (const row of rows) this.addSum(row);
    return last;
  }

  async #addByModel(reads: Reads, slice: UsageSlice): Promise<PageStart | null> {
    const rows = await reads.query(usageByModel(slice));
    for (const row of rows) this.#addModels({ ...row, isCharged: (row.charged_runs ?? 0) > 0 });
    const oldest = rows.at(-1);
    if (oldest === undefined || rows.length < slice.maxRuns) return null;
    return { createdAt: Number(oldest.created_at), id: oldest.run_id };
  }

  #addModels(run: RunOfModels): void {
    const { groupBy, splitBy, model: only } = this.#grouping;
    for (const { model, credits, ...usage } of JSON.parse(run.by_model_json) as ModelUsage[]) {
      if (only !== null && model !== only) continue;
      const values = { day: run.day, consumer: run.consumer_id, agent: run.agent, model };
      const charged = run.isCharged
        ? { runs: 1, tokens: totalTokens(usage), credits }
        : { runs: 0, tokens: 0, credits: 0 };
      const amounts = { runs: 1, newestRunId: run.run_id, usage, charged };
      this.#add(shown(values[groupBy]), splitBy === null ? null : shown(values[splitBy]), amounts);
    }
  }

  #add(key: string | null, value: string | null, more: Amounts): void {
    addTo(this.#byKey, key, this.#grouping.getSplit(value), more);
  }
}

type GroupMap = Map<string | null, Map<string | null, UsageGroup>>;

function addTo(groups: GroupMap, key: string | null, split: string | null, more: Amounts): void {
  const bySplit = groups.getOrInsertComputed(key, () => new Map<string | null, UsageGroup>());
  const group = bySplit.getOrInsertComputed(split, () => emptyGroup(key, split));
  group.runs += more.runs;
  if (more.newestRunId > group.newestRunId) group.newestRunId = more.newestRunId;
  group.usage = addUsage(group.usage, more.usage);
  group.charged.runs += more.charged.runs;
  group.charged.tokens += more.charged.tokens;
  group.charged.credits += more.charged.credits;
}

const listGroups = (groups: GroupMap) => [...groups.values()].flatMap((bySplit) => [...bySplit.values()]);

/** Adds up groups under other keys. */
export function mergeGroups(
  groups: readonly UsageGroup[],
  toKeys: (group: UsageGroup) => Pick<UsageGroup, 'key' | 'split'>,
): UsageGroup[] {
  const merged: GroupMap = new Map();
  for (const group of groups) {
    const { key, split } = toKeys(group);
    addTo(merged, key, split, group);
  }
  return listGroups(merged);
}

interface RunOfModels {
  readonly run_id: string;
  readonly day: number | null;
  readonly consumer_id: string | null;
  readonly agent: string | null;
  readonly by_model_json: string;
  readonly isCharged: boolean;
}

function emptyGroup(key: string | null, split: string | null): UsageGroup {
  return { key, split, runs: 0, newestRunId: '', usage: NO_USAGE, charged: { runs: 0, tokens: 0, credits: 0 } };
}

/** A day is stored as a number of days since 1970. */
function shown(value: string | number | null): string | null {
  return typeof value === 'number' ? new Date(value * DAY_MS).toISOString().slice(0, 10) : value;
}
