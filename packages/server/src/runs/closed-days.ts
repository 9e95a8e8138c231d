import { LruCache } from '../lib/lru-cache.ts';
import type { TakeTurn } from '../lib/page-turns.ts';
import { type DaySum, rollupBounds, sumDays } from '../store/queries/closed-days.ts';
import { first, type Reads } from '../store/store.ts';

const DAY_MS = 86_400_000;
const HOURS_A_DAY = 24;
/** Days that one query adds up: with 30 000 rows for 90 days it takes about 20 ms. */
const DAYS_A_SLICE = 31;
const MAX_DAYS = 20_000;
/** About 10 MB. */
const MAX_ROWS = 50_000;

/** Days from `from` to before `to`. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Keeps the sums of days that no run changes any more. A day is closed if all its runs are part of the rollups and no run can
 * be admitted in it: it is before yesterday, so clocks of nodes may differ by a day. Erasures do not change these sums, and the
 * id of a deleted integration is not used again. With 30 000 rows for 90 days, a summary takes 3 ms instead of 20 to 70.
 */
export class ClosedDays {
  readonly #days = new LruCache<string, readonly DaySum[]>(MAX_DAYS, {
    max: MAX_ROWS,
    maxValue: MAX_ROWS,
    weigh: (rows) => rows.length,
  });

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
      Math.floor(Date.now() / DAY_MS) - 1,
    );
    return to <= from ? null : { from, to };
  }

  /** Reads the sums of days that `find` has found. */
  async read(
    { reads, takeTurn }: { readonly reads: Reads; readonly takeTurn: TakeTurn },
    integrationId: string,
    { from, to }: DayRange,
  ): Promise<DaySum[]> {
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
}
