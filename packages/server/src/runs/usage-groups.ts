import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import { addUsage, NO_USAGE, totalTokens, type Usage } from '../domain/model/usage.ts';
import {
  addMeasures,
  costOfModel,
  countMeasures,
  type Measures,
  measureRun,
  parseMeasures,
} from '../domain/run/measures.ts';
import { HOUR_MS } from '../domain/time.ts';
import type { PageStart } from '../store/queries/page.ts';
import type { SumRow } from '../store/queries/rollup-sums.ts';
import type { UsageRange } from '../store/queries/usage.ts';
import type { Reads } from '../store/store.ts';
import type { ClosedDays } from './closed-days.ts';
import { readModels } from './stored-models.ts';
import { hasEnded, type RunOfSlice, readSlice, toMeasuredRun, toUsage } from './usage-slices.ts';

export type UsageKey = 'hour' | 'day' | 'consumer' | 'agent' | 'model' | 'error' | 'agencyVersion';

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
  /** How many have ended. */
  ended: number;
  newestRunId: string;
  usage: Usage;
  charged: { runs: number; tokens: number; credits: number };
  readonly measures: Measures;
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
export const isByModel = ({ groupBy, splitBy, model }: Omit<UsageGrouping, 'getSplit'>): boolean =>
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
    do {
      using _turn = await takeTurn();
      const { runs, last }: Awaited<ReturnType<typeof readSlice>> = await readSlice(reads, {
        ...range,
        before,
        maxRuns,
      });
      this.addRows(runs);
      before = last;
    } while (before !== null);
  }

  /** Adds sums and runs. */
  addRows(rows: readonly SumRow[]): void {
    for (const row of rows) {
      if (row.by_model_json === null) this.addSum(row);
      else if (isByModel(this.#grouping)) this.#addModels(row);
      else this.#addRun(row);
    }
  }

  /** With `sign` -1 the sum is subtracted. Its newest run is not. */
  addSum(row: SumRow, sign: 1 | -1 = 1): void {
    const runs = sign * Number(row.runs);
    const usage = toUsage(row);
    const measures: Measures = {};
    addMeasures(measures, parseMeasures(row.measures), sign);
    this.#add(row, row.model, {
      runs,
      ended: runs,
      newestRunId: row.newest_run_id,
      usage: {
        requestCount: sign * usage.requestCount,
        inputTokens: sign * usage.inputTokens,
        cachedTokens: sign * usage.cachedTokens,
        outputTokens: sign * usage.outputTokens,
        reasoningTokens: sign * usage.reasoningTokens,
      },
      charged: {
        runs: sign * Number(row.charged_runs ?? 0),
        tokens: sign * Number(row.charged_tokens ?? 0),
        credits: sign * Number(row.charged_credits ?? 0),
      },
      measures,
    });
  }

  #addRun(run: RunOfSlice): void {
    const ended = hasEnded(run);
    this.#add(run, null, {
      runs: 1,
      ended: ended ? 1 : 0,
      newestRunId: run.newest_run_id,
      usage: toUsage(run),
      charged: {
        runs: Number(run.charged_runs ?? 0),
        tokens: Number(run.charged_tokens ?? 0),
        credits: Number(run.charged_credits ?? 0),
      },
      measures: ended ? measureRun(toMeasuredRun(run)) : {},
    });
  }

  #addModels(run: RunOfSlice): void {
    const ended = hasEnded(run);
    const counted = ended ? countMeasures(toMeasuredRun(run)) : {};
    for (const one of readModels(run.by_model_json)) {
      const { model, credits, cost: _, ...usage } = one;
      if (this.#grouping.model !== null && model !== this.#grouping.model) continue;
      const charged =
        Number(run.charged_runs ?? 0) > 0
          ? { runs: 1, tokens: totalTokens(usage), credits }
          : { runs: 0, tokens: 0, credits: 0 };
      const measures = ended ? { ...counted, ...costOfModel(one, run.currency) } : {};
      const amounts = { runs: 1, ended: ended ? 1 : 0, newestRunId: run.newest_run_id, usage, charged, measures };
      this.#add(run, model, amounts);
    }
  }

  #add(row: SumRow, model: string | null, more: Amounts): void {
    const { groupBy, splitBy, getSplit } = this.#grouping;
    const value = splitBy === null ? null : getValue(row, model, splitBy);
    addTo(this.#byKey, getValue(row, model, groupBy), getSplit(value), more);
  }
}

/** Returns the text under which a row counts. */
function getValue(row: SumRow, model: string | null, key: UsageKey): string | null {
  switch (key) {
    case 'hour': {
      const hour = row.created_at === null ? row.hour : Math.floor(Number(row.created_at) / HOUR_MS);
      return hour === null ? null : new Date(hour * HOUR_MS).toISOString();
    }
    case 'day':
      return row.day === null ? null : new Date(row.day * DAY_MS).toISOString().slice(0, 10);
    case 'consumer':
      return row.consumer_id;
    case 'agent':
      return row.agent;
    case 'model':
      return model;
    // Rollups have an empty text if there is none.
    case 'error':
      return row.error_code || null;
    case 'agencyVersion':
      return row.agency_version || null;
  }
}

type GroupMap = Map<string | null, Map<string | null, UsageGroup>>;

function addTo(groups: GroupMap, key: string | null, split: string | null, more: Amounts): void {
  const bySplit = groups.getOrInsertComputed(key, () => new Map<string | null, UsageGroup>());
  const group = bySplit.getOrInsertComputed(split, () => emptyGroup(key, split));
  group.runs += more.runs;
  group.ended += more.ended;
  if (more.newestRunId > group.newestRunId) group.newestRunId = more.newestRunId;
  group.usage = addUsage(group.usage, more.usage);
  group.charged.runs += more.charged.runs;
  group.charged.tokens += more.charged.tokens;
  group.charged.credits += more.charged.credits;
  addMeasures(group.measures, more.measures);
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

function emptyGroup(key: string | null, split: string | null): UsageGroup {
  return {
    ...{ key, split, runs: 0, ended: 0, newestRunId: '', usage: NO_USAGE },
    charged: { runs: 0, tokens: 0, credits: 0 },
    measures: {},
  };
}
