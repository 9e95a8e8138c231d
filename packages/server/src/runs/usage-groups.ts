import { addUsage, type ModelUsage, NO_USAGE, totalTokens, type Usage } from '../domain/usage.ts';
import type { TakeTurn } from '../lib/page-turns.ts';
import type { PageStart } from '../store/queries/page.ts';
import {
  type UsageColumn,
  type UsageRange,
  type UsageSlice,
  usageByColumns,
  usageByModel,
} from '../store/queries/usage.ts';
import type { Reads } from '../store/store.ts';

export type UsageKey = UsageColumn | 'model';

export interface UsageGrouping {
  readonly groupBy: UsageKey;
  readonly splitBy: UsageKey | null;
  /** Adds up only what this model used. Null: all models. */
  readonly model: string | null;
  /** Returns the value under which a value of `splitBy` counts. */
  readonly splitOf: (value: string | null) => string | null;
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
  /** Each slice waits for the turn of its owner. */
  readonly takeTurn: TakeTurn;
}

/** Adds up the runs of a range, in slices of `maxRuns` runs: on the embedded store nothing else happens during a query. */
export async function addUpUsage(
  { reads, takeTurn }: UsageSource,
  range: UsageRange,
  grouping: UsageGrouping,
  maxRuns: number,
): Promise<UsageGroup[]> {
  const groups = new Groups(grouping);
  let before: PageStart | null = null;
  for (;;) {
    using _turn = await takeTurn();
    const slice: UsageSlice = { ...range, before, maxRuns };
    const last: PageStart | null = await groups.addSlice(reads, slice);
    if (last === null) return groups.all();
    before = last;
  }
}

class Groups {
  readonly #grouping: UsageGrouping;
  readonly #byKey = new Map<string | null, Map<string | null, UsageGroup>>();

  constructor(grouping: UsageGrouping) {
    this.#grouping = grouping;
  }

  all(): UsageGroup[] {
    return [...this.#byKey.values()].flatMap((bySplit) => [...bySplit.values()]);
  }

  /** Resolves to the oldest run of the slice, or to null if no runs remain. */
  addSlice(reads: Reads, slice: UsageSlice): Promise<PageStart | null> {
    const { groupBy, splitBy, model } = this.#grouping;
    if (groupBy === 'model' || splitBy === 'model' || model !== null) return this.#addByModel(reads, slice);
    return this.#addByColumns(reads, slice, groupBy, splitBy);
  }

  async #addByColumns(reads: Reads, slice: UsageSlice, groupBy: UsageColumn, splitBy: UsageColumn | null) {
    let runs = 0;
    let last: PageStart | null = null;
    for (const row of await reads.query(usageByColumns(slice, groupBy, splitBy))) {
      runs += Number(row.runs);
      last = { createdAt: Number(row.last_created_at), id: row.last_run_id };
      this.#add(shown(row.key), shown(row.split), {
        runs: Number(row.runs),
        newestRunId: row.newest_run_id,
        usage: {
          requestCount: Number(row.request_count),
          inputTokens: Number(row.input_tokens),
          cachedTokens: Number(row.cached_tokens),
          outputTokens: Number(row.output_tokens),
          reasoningTokens: Number(row.reasoning_tokens),
        },
        charged: {
          runs: Number(row.charged_runs ?? 0),
          tokens: Number(row.charged_tokens ?? 0),
          credits: Number(row.charged_credits ?? 0),
        },
      });
    }
    return runs < slice.maxRuns ? null : last;
  }

  async #addByModel(reads: Reads, slice: UsageSlice): Promise<PageStart | null> {
    const { groupBy, splitBy, model: only } = this.#grouping;
    const rows = await reads.query(usageByModel(slice));
    for (const row of rows) {
      const isCharged = (row.charged_runs ?? 0) > 0;
      for (const { model, credits, ...usage } of JSON.parse(row.by_model_json) as ModelUsage[]) {
        if (only !== null && model !== only) continue;
        const values = { day: row.day, consumer: row.consumer_id, agent: row.agent, model };
        const charged = isCharged
          ? { runs: 1, tokens: totalTokens(usage), credits }
          : { runs: 0, tokens: 0, credits: 0 };
        const amounts = { runs: 1, newestRunId: row.run_id, usage, charged };
        this.#add(shown(values[groupBy]), splitBy === null ? null : shown(values[splitBy]), amounts);
      }
    }
    const oldest = rows.at(-1);
    if (oldest === undefined || rows.length < slice.maxRuns) return null;
    return { createdAt: Number(oldest.created_at), id: oldest.run_id };
  }

  #add(key: string | null, value: string | null, more: Amounts): void {
    const split = this.#grouping.splitOf(value);
    const bySplit = this.#byKey.getOrInsertComputed(key, () => new Map<string | null, UsageGroup>());
    const group = bySplit.getOrInsertComputed(split, () => emptyGroup(key, split));
    group.runs += more.runs;
    if (more.newestRunId > group.newestRunId) group.newestRunId = more.newestRunId;
    group.usage = addUsage(group.usage, more.usage);
    group.charged.runs += more.charged.runs;
    group.charged.tokens += more.charged.tokens;
    group.charged.credits += more.charged.credits;
  }
}

function emptyGroup(key: string | null, split: string | null): UsageGroup {
  return { key, split, runs: 0, newestRunId: '', usage: NO_USAGE, charged: { runs: 0, tokens: 0, credits: 0 } };
}

/** A day is stored as a number of days since 1970. */
function shown(value: string | number | null): string | null {
  return typeof value === 'number' ? new Date(value * DAY_MS).toISOString().slice(0, 10) : value;
}
