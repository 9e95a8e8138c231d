import { LruCache } from '../lib/lru-cache.ts';
import type { TakeTurn } from '../lib/page-turns.ts';
import {
  type DaySum,
  erasureMark,
  largestMembers,
  type MemberTokens,
  rollupBounds,
  sumDays,
} from '../store/queries/closed-days.ts';
import { memberBoundary } from '../store/queries/rollup-sums.ts';
import { first, type Reads } from '../store/store.ts';

const DAY_MS = 86_400_000;
const HOURS_A_DAY = 24;
/** Admissions commit, and clocks of nodes differ, by less than this time. */
const CLOSING_MS = 3_600_000;
/** Days that one query adds up. On the embedded store nothing else happens during a query. */
const DAYS_A_SLICE = 31;
const MAX_DAYS = 20_000;
/** An estimated 10 MB. */
const MAX_ROWS = 50_000;
const MAX_RANGES = 1_000;
/** Rows of `usage_days` that one query adds up. It takes about 40 ms. */
const MEMBER_DAYS_A_SLICE = 100_000;

interface StoredSums {
  readonly reads: Reads;
  readonly takeTurn: TakeTurn;
}

/** Days from `from` to before `to`. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Keeps the sums of days that no run changes any more. A day is closed if all its runs are part of the rollups and no run can
 * be admitted in it: it ended an hour ago, and clocks of nodes differ by less. Erasures do not change these sums, and the
 * id of a deleted integration is not used again. With 30 000 rows for 90 days, a summary takes 15 ms instead of 50 to 90.
 */
export class ClosedDays {
  readonly #days = new LruCache<string, readonly DaySum[]>(MAX_DAYS, {
    max: MAX_ROWS,
    maxValue: MAX_ROWS,
    weigh: (rows) => rows.length,
  });

  readonly #largest = new LruCache<string, readonly string[]>(MAX_RANGES);

  /** Finds the closed days between two days. Null: no bound. Resolves to null if there are none. */
  async find(
    reads: Reads,
    integrationId: string,
    between: { readonly from: number | null; readonly to: number | null },
  ): Promise<DayRange | null> {
    const bounds = await first(reads.query(rollupBounds(integrationId)));
    if (bounds === undefined || bounds.first_hour === null) return null;
    const oldest = bounds.oldest_uncounted ?? Number.POSITIVE_INFINITY;
    const from = Math.max(between.from ?? 0, Math.floor(bounds.first_hour / HOURS_A_DAY));
    const to = Math.min(
      between.to ?? Number.POSITIVE_INFINITY,
      Math.floor(Number(oldest) / DAY_MS),
      Math.floor((Date.now() - CLOSING_MS) / DAY_MS),
    );
    return to <= from ? null : { from, to };
  }

  /** Reads the sums of days that `find` has found. */
  async read({ reads, takeTurn }: StoredSums, integrationId: string, { from, to }: DayRange): Promise<DaySum[]> {
    const found: DaySum[] = [];
    let day = from;
    while (day < to) {
      const kept = this.#days.get(`${integrationId} ${day}`);
      if (kept !== undefined) {
        found.push(...kept);
        day += 1;
        continue;
      }
      const end = Math.min(to, day + DAYS_A_SLICE);
      using _turn = await takeTurn();
      const byDay = Map.groupBy(await reads.query(sumDays(integrationId, day, end)), (row) => row.day);
      for (; day < end; day += 1) {
        const rows = byDay.get(day) ?? [];
        this.#days.set(`${integrationId} ${day}`, rows);
        found.push(...rows);
      }
    }
    return found;
  }

  /**
   * Finds the members with the most tokens in days that `find` has found. Only erasures change who they are. With 250 000 rows
   * of members this takes 85 ms on SQLite and 500 ms on PostgreSQL, so the ids are kept until the next erasure.
   */
  async largestMembers(
    source: StoredSums,
    integrationId: string,
    days: DayRange,
    count: number,
  ): Promise<readonly string[]> {
    const mark = await source.reads.all(erasureMark, { integrationId });
    const key = JSON.stringify([integrationId, days.from, days.to, count, mark]);
    const kept = this.#largest.get(key);
    if (kept !== undefined) return kept;
    const found = await findLargest(source, { integrationId, ...days }, count);
    const ids = found.map((member) => member.consumer_id);
    this.#largest.set(key, ids);
    return ids;
  }
}

/** Members are read in slices: a member is never divided among two of them. */
async function findLargest(
  { reads, takeTurn }: StoredSums,
  days: DayRange & { readonly integrationId: string },
  count: number,
): Promise<MemberTokens[]> {
  const { integrationId } = days;
  let found: MemberTokens[] = [];
  let after: string | null = '';
  while (after !== null) {
    using _turn = await takeTurn();
    const slice: { after: string; offset: number } = { after, offset: MEMBER_DAYS_A_SLICE };
    const boundary = await first(reads.all(memberBoundary, { integrationId, ...slice }));
    const upTo: string | null = boundary?.consumer_id ?? null;
    found.push(...(await reads.query(largestMembers(days, { after, upTo }, count))));
    found = found.sort(mostTokensFirst).slice(0, count);
    after = upTo;
  }
  return found;
}

function mostTokensFirst(one: MemberTokens, other: MemberTokens): number {
  const [tokens, runs] = [Number(other.tokens) - Number(one.tokens), Number(other.runs) - Number(one.runs)];
  return tokens || runs || (one.consumer_id < other.consumer_id ? -1 : 1);
}
