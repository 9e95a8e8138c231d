import type { IntegrationId } from '../domain/ids.ts';
import type { PageStart } from '../store/queries/page.ts';
import { admissionOfRun, hasManyDays, newestRunsOfMembers, sumMembers } from '../store/queries/rollup-sums.ts';
import type { UsageRange } from '../store/queries/usage.ts';
import { first } from '../store/store.ts';
import { addWithoutMember, DAY_MS, partsOutside, wholeUnits } from './add-up-usage.ts';
import { type UsageGroup, type UsageGrouping, UsageGroups, type UsageSource } from './usage-groups.ts';

/** With fewer rows of `usage_days` for each run of a slice, it is cheaper to add them all up. */
const MANY_DAYS = 4;
/** The first slice usually has enough members for a page. */
const FIRST_SLICE_RUNS = 500;

const BY_MEMBER: UsageGrouping = { groupBy: 'consumer', splitBy: null, model: null, getSplit: () => null };

export interface MemberPage {
  /** The newest run of the last group of the page before; null for the first page. */
  readonly afterRunId: string | null;
  readonly limit: number;
}

/**
 * Finds the members of one page and adds up only their runs. The member with the newest run is first, so the page is found from
 * the runs, newest first. Resolves to null if the integration has few members, or no rollups for the range.
 */
export async function addUpPageOfMembers(
  source: UsageSource,
  range: UsageRange,
  { afterRunId, limit }: MemberPage,
  maxRuns: number,
): Promise<UsageGroup[] | null> {
  const { reads } = source;
  const { integrationId } = range;
  if ((await reads.all(hasManyDays, { integrationId, offset: MANY_DAYS * maxRuns })).length === 0) return null;
  const units = await wholeUnits(reads, range, DAY_MS);
  if (units === null) return null;
  const start = afterRunId === null ? null : await startAfter(source, integrationId, afterRunId);
  if (start === undefined) return null;
  const newest = await newestRuns(source, range, start, limit, maxRuns);
  const consumers = [...newest.keys()];
  const groups = new UsageGroups(source, BY_MEMBER);
  const outside = partsOutside(range, units, DAY_MS);
  if (consumers.length > 0) {
    using _turn = await source.takeTurn();
    groups.addRows(await reads.query(sumMembers({ integrationId, ...units, members: { consumers } })));
  }
  for (const part of outside)
    for (const consumerId of [...consumers, null]) await groups.addRuns({ ...part, consumerId }, maxRuns);
  await addWithoutMember(source, groups, integrationId, units);
  return groups.all().map((group) => ({ ...group, newestRunId: newest.get(group.key ?? '') ?? group.newestRunId }));
}

async function startAfter(
  { reads }: UsageSource,
  integrationId: IntegrationId,
  runId: string,
): Promise<PageStart | undefined> {
  const run = await first(reads.all(admissionOfRun, { integrationId, runId }));
  return run === undefined ? undefined : { createdAt: run.created_at, id: runId };
}

/** Finds the newest run of each of the next `count` members. */
async function newestRuns(
  { reads, takeTurn }: UsageSource,
  range: UsageRange,
  start: PageStart | null,
  count: number,
  maxRuns: number,
): Promise<Map<string, string>> {
  const newest = new Map<string, string>();
  let before = start;
  let sliceRuns = Math.min(FIRST_SLICE_RUNS, maxRuns);
  for (;;) {
    using _turn = await takeTurn();
    const rows = await reads.query(newestRunsOfMembers(range, before, sliceRuns));
    const oldest = rows.find(({ consumer_id: consumerId }) => consumerId === null);
    const found = rows.filter(({ consumer_id: consumerId }) => consumerId !== null);
    found.sort((a, b) => b.created_at - a.created_at || (a.run_id < b.run_id ? 1 : -1));
    for (const { consumer_id: consumerId, run_id: runId } of found) {
      if (newest.size < count) newest.set(consumerId ?? '', runId);
    }
    if (oldest === undefined || newest.size === count || Number(oldest.slice_runs) < sliceRuns) return newest;
    before = { createdAt: oldest.created_at, id: oldest.run_id };
    sliceRuns = maxRuns;
  }
}
