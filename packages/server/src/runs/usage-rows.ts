import { adjustmentJson } from '../accounts/adjustment-json.ts';
import type { ErasedIds } from '../domain/account/erased-ids.ts';
import type { IntegrationId } from '../domain/ids.ts';
import type { ListPosition } from '../domain/list-cursor.ts';
import { admissionTimes } from '../domain/time.ts';
import { type AdjustmentRow, listAdjustments } from '../store/queries/adjustments.ts';
import type { Page } from '../store/queries/page.ts';
import { listRuns, type RunRow } from '../store/queries/runs.ts';
import type { ListQuery } from '../store/read-page.ts';
import type { Reads } from '../store/store.ts';
import { usageRecordJson } from './run-json.ts';

export interface UsageQuery extends ListQuery {
  readonly usageRequestId?: string;
  readonly consumerId?: string;
  readonly from?: string;
  readonly to?: string;
  /** True: only reruns. False: no reruns. */
  readonly rerun?: boolean;
}

/** What a usage record is made of: a run or an adjustment. */
export type UsageRow = RunRow | AdjustmentRow;

const isAdjustment = (row: UsageRow): row is AdjustmentRow => 'adjustment_id' in row;

export const usagePosition = (row: UsageRow): ListPosition => ({
  createdAt: row.created_at,
  id: isAdjustment(row) ? row.adjustment_id : row.run_id,
});

export const usageJson = (row: UsageRow) => (isAdjustment(row) ? adjustmentJson(row) : usageRecordJson(row));

/**
 * Reads a page of runs and adjustments in one order, newest first. Both lists begin at the same position and have as many
 * rows as the page, so no row of the page is missing. A `usageRequestId` selects a run, so there are no adjustments then.
 */
export async function readUsage(
  reads: Reads,
  ids: ErasedIds,
  integrationId: IntegrationId,
  query: UsageQuery,
  page: Page,
): Promise<UsageRow[]> {
  const { usageRequestId, consumerId, rerun } = query;
  const filter = { integrationId, consumerId, ...admissionTimes(query), ...page };
  const usageRequestIds =
    usageRequestId === undefined ? undefined : [usageRequestId, ids.usageRequest(integrationId, usageRequestId)];
  const [runs, adjustments] = await Promise.all([
    reads.query(listRuns({ ...filter, usageRequestIds, rerun, texts: 'none' })),
    usageRequestId === undefined && rerun !== true ? reads.query(listAdjustments(filter)) : [],
  ]);
  if (adjustments.length === 0) return runs;
  return [...runs, ...adjustments].sort(newestFirst).slice(0, page.limit);
}

/** Ids are ASCII, so they are compared here as both stores compare them. */
function newestFirst(one: UsageRow, other: UsageRow): number {
  const [a, b] = [usagePosition(one), usagePosition(other)];
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.id < b.id ? 1 : -1;
}
