import type { PageStart } from '../store/queries/page.ts';
import type { SumRow } from '../store/queries/rollup-sums.ts';
import { type UsageColumn, type UsageSlice, usageByColumns } from '../store/queries/usage.ts';
import type { Reads } from '../store/store.ts';

const COLUMNS = { day: 'day', consumer: 'consumer_id', agent: 'agent' } as const;
const NO_VALUES = { day: null, consumer_id: null, agent: null, model: null, by_model_json: null };

const splitValue = (splitBy: UsageColumn | null, value: string | number | null) =>
  splitBy === null ? {} : { [COLUMNS[splitBy]]: value };

/** Sums up a slice of runs by one or two columns. `last` is its oldest run, or null if no runs remain. */
export async function readSlice(
  reads: Reads,
  slice: UsageSlice,
  groupBy: UsageColumn,
  splitBy: UsageColumn | null,
): Promise<{ readonly rows: readonly SumRow[]; readonly last: PageStart | null }> {
  let runs = 0;
  let last: PageStart | null = null;
  const rows: SumRow[] = [];
  for (const { key, split, last_created_at: createdAt, last_run_id: id, ...sums } of await reads.query(
    usageByColumns(slice, groupBy, splitBy),
  )) {
    runs += Number(sums.runs);
    last = { createdAt: Number(createdAt), id };
    rows.push({ ...NO_VALUES, ...sums, [COLUMNS[groupBy]]: key, ...splitValue(splitBy, split) });
  }
  return { rows, last: runs < slice.maxRuns ? null : last };
}
