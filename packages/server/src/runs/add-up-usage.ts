import type { IntegrationId } from '../domain/ids.ts';
import { HOUR_MS } from '../domain/time.ts';
import { type DaySum, rollupBounds } from '../store/queries/closed-days.ts';
import {
  admissionOfRun,
  type HourColumn,
  type HourSums,
  memberBoundary,
  type SumRow,
  sumDaysAndMembers,
  sumDaysOfMembers,
  sumHours,
  sumMembers,
} from '../store/queries/rollup-sums.ts';
import { usageWalk } from '../store/queries/uncounted.ts';
import type { UsageRange } from '../store/queries/usage.ts';
import { first, type Reads } from '../store/store.ts';
import { type ClosedRange, readErasureMark } from './closed-days.ts';
import {
  isByModel,
  type UsageGroup,
  type UsageGrouping,
  UsageGroups,
  type UsageKey,
  type UsageSource,
} from './usage-groups.ts';
import { NO_RUN } from './usage-slices.ts';

export const DAY_MS = 86_400_000;
const HOURS_A_DAY = 24;
/** Hours that one query adds up. */
const HOURS_A_SLICE = 31 * HOURS_A_DAY;
/** Rows of `usage_days` that one query adds up, for each run of a slice. */
const DAYS_A_RUN = 4;
/** Runs that are admitted concurrently can have ids in another order than their times. */
const DISORDER_MS = 60_000;

/** The whole hours or days of a range: the first one, and the one after the last. Null: no bound. */
export interface WholeUnits {
  readonly from: number | null;
  readonly to: number | null;
}

/**
 * Finds a range's whole units, which rollups can answer. Later pages leave out runs that were admitted after the first
 * page, so the hour or day of that time is not whole. Resolves to null if there are none, and while the rollups miss runs of
 * earlier versions, and for reruns.
 */
export async function wholeUnits(reads: Reads, range: UsageRange, unitMs: number): Promise<WholeUnits | null> {
  const { integrationId, fromMs, newestRunId, rerun } = range;
  if (rerun || (await reads.all(usageWalk, {})).length > 0) return null;
  let { toMs } = range;
  if (newestRunId !== null) {
    const newest = await first(reads.all(admissionOfRun, { integrationId, runId: newestRunId }));
    if (newest === undefined) return null;
    toMs = Math.min(toMs ?? Number.POSITIVE_INFINITY, newest.created_at - DISORDER_MS);
  }
  const from = fromMs === undefined ? null : Math.ceil(fromMs / unitMs);
  const to = toMs === undefined ? null : Math.floor(toMs / unitMs);
  return from !== null && to !== null && to <= from ? null : { from, to };
}

/** The parts of a range before and after its whole units. */
export function partsOutside(range: UsageRange, units: WholeUnits, unitMs: number): UsageRange[] {
  const parts: UsageRange[] = [];
  if (units.from !== null && (range.fromMs ?? 0) < units.from * unitMs)
    parts.push({ ...range, toMs: units.from * unitMs });
  if (units.to !== null && (range.newestRunId !== null || units.to * unitMs !== range.toMs))
    parts.push({ ...range, fromMs: units.to * unitMs });
  return parts;
}

/**
 * Adds up a range's usage: whole hours from the rollups, and the rest from the runs. Sums of members are kept by day, and
 * not by agent and model. With these filters, or for one member, all is added up from the runs.
 */
export async function addUpUsage(
  source: UsageSource,
  range: UsageRange,
  grouping: UsageGrouping,
  maxRuns: number,
): Promise<UsageGroup[]> {
  const groups = new UsageGroups(source, grouping);
  const isByMember = grouping.groupBy === 'consumer';
  const unitMs = isByMember ? DAY_MS : HOUR_MS;
  const units = hasRollups(range, grouping) ? await wholeUnits(source.reads, range, unitMs) : null;
  if (units === null) {
    await groups.addRuns(range, maxRuns);
    return groups.all();
  }
  for (const part of partsOutside(range, units, unitMs)) await groups.addRuns(part, maxRuns);
  if (isByMember) await addMembers(source, groups, range, units, DAYS_A_RUN * maxRuns);
  else await addHours(source, groups, range, units, grouping);
  return groups.all();
}

export const hasRollups = (range: UsageRange, { groupBy, splitBy, model }: UsageGrouping): boolean => {
  if (range.consumerId !== undefined || splitBy === 'consumer') return false;
  return groupBy !== 'consumer' || (range.agent === undefined && model === null);
};

const HOUR_COLUMNS = {
  ...{ hour: 'hour', day: 'day', agent: 'agent', model: 'model', error: 'error_code' },
  agencyVersion: 'agency_version',
} as const satisfies Record<Exclude<UsageKey, 'consumer'>, HourColumn>;

/** No sums by these columns are kept for closed days. */
const NOT_KEPT: readonly HourColumn[] = ['hour', 'error_code', 'agency_version'];

/** Selects what is added up from the sums of runs, besides the time. */
type HourSelection = Omit<HourSums, 'from' | 'to'>;

async function addHours(
  source: UsageSource,
  groups: UsageGroups,
  { integrationId, agent }: UsageRange,
  units: WholeUnits,
  grouping: UsageGrouping,
): Promise<void> {
  const keys = [grouping.groupBy, grouping.splitBy].filter((key) => key !== null && key !== 'consumer');
  const columns = new Set(keys.map((key) => HOUR_COLUMNS[key]));
  const { model } = grouping;
  const byModel = isByModel(grouping);
  await addSums(source, groups, { integrationId, agent, model, columns, byModel, withoutMember: false }, units);
}

/** Adds closed days from memory, and the hours before and after them from the store. */
async function addSums(
  source: UsageSource,
  groups: UsageGroups,
  selection: HourSelection,
  hours: WholeUnits,
): Promise<void> {
  const { reads, takeTurn, closedDays } = source;
  const { integrationId } = selection;
  const days = {
    from: hours.from === null ? null : Math.ceil(hours.from / HOURS_A_DAY),
    to: hours.to === null ? null : Math.floor(hours.to / HOURS_A_DAY),
  };
  const isKept = !NOT_KEPT.some((column) => selection.columns.has(column));
  const closed = isKept ? await closedDays.find(reads, integrationId, days) : null;
  if (closed !== null) {
    const isSelected = selectsDays(selection);
    for (const row of await closedDays.read(source, integrationId, closed))
      if (isSelected(row)) groups.addSum(toSumRow(row, selection.byModel));
  }
  for (const open of outsideClosed(hours, closed, HOURS_A_DAY)) {
    for (const slice of await sliceHours(reads, integrationId, open)) {
      using _turn = await takeTurn();
      groups.addRows(await reads.query(sumHours({ ...selection, ...slice })));
    }
  }
}

/** Divides hours, because on the embedded store nothing else happens during a query. */
async function sliceHours(reads: Reads, integrationId: IntegrationId, { from, to }: WholeUnits): Promise<WholeUnits[]> {
  const bounds = await first(reads.query(rollupBounds(integrationId)));
  if (bounds === undefined || bounds.first_hour === null || bounds.last_hour === null) return [{ from, to }];
  const begin = Math.max(from ?? 0, bounds.first_hour);
  const end = Math.min(to ?? Number.POSITIVE_INFINITY, bounds.last_hour);
  const slices: WholeUnits[] = [];
  let start = from;
  for (let next = begin + HOURS_A_SLICE; next < end; next += HOURS_A_SLICE) {
    slices.push({ from: start, to: next });
    start = next;
  }
  return [...slices, { from: start, to }];
}

const selectsDays =
  ({ agent, model, byModel, withoutMember }: HourSelection) =>
  (row: DaySum): boolean => {
    if (agent !== undefined && row.agent !== agent) return false;
    if (byModel && (row.model === '' || (model !== null && row.model !== model))) return false;
    return !withoutMember || row.has_member === 0;
  };

const toSumRow = (row: DaySum, byModel: boolean): SumRow => ({
  ...row,
  ...(byModel ? { runs: row.model_runs, charged_runs: row.charged_model_runs } : {}),
  ...{ hour: null, consumer_id: null, error_code: null, agency_version: null },
  ...NO_RUN,
});

/** The hours or days before and after the closed days. */
function outsideClosed(units: WholeUnits, closed: ClosedRange | null, unitsADay: number): WholeUnits[] {
  if (closed === null) return [units];
  const [from, to] = [closed.from * unitsADay, closed.to * unitsADay];
  const parts: WholeUnits[] = [];
  if (units.from !== null && units.from < from) parts.push({ from: units.from, to: from });
  if (units.to === null || units.to > to) parts.push({ from: to, to: units.to });
  return parts;
}

/** Adds the sums of whole days by member. Members are read in slices: a member is never divided among two of them. */
async function addMembers(
  source: UsageSource,
  groups: UsageGroups,
  { integrationId }: UsageRange,
  units: WholeUnits,
  maxDays: number,
): Promise<void> {
  const { reads, takeTurn } = source;
  let after: string | null = '';
  while (after !== null) {
    using _turn = await takeTurn();
    const upTo: string | null = await boundaryAfter(reads, integrationId, after, maxDays);
    groups.addRows(await reads.query(sumMembers({ integrationId, ...units, members: { after, upTo } })));
    after = upTo;
  }
  await addWithoutMember(source, groups, integrationId, units);
}

async function boundaryAfter(reads: Reads, integrationId: IntegrationId, after: string, offset: number) {
  const boundary = await first(reads.all(memberBoundary, { integrationId, after, offset }));
  return boundary?.consumer_id ?? null;
}

/** Adds the sums of whole days of the runs without a member. */
export async function addWithoutMember(
  source: UsageSource,
  groups: UsageGroups,
  integrationId: IntegrationId,
  { from, to }: WholeUnits,
): Promise<void> {
  const hours = {
    from: from === null ? null : from * HOURS_A_DAY,
    to: to === null ? null : to * HOURS_A_DAY,
  };
  const all = { agent: undefined, model: null, byModel: false, columns: new Set<never>(), withoutMember: true };
  await addSums(source, groups, { integrationId, ...all }, hours);
}

/**
 * Adds up by day and member, for these members and null for all others. Resolves to null if the days of the range are not
 * whole, or not all in the rollups.
 */
export async function addUpDaysOfMembers(
  source: UsageSource,
  range: UsageRange,
  members: readonly string[],
  grouping: UsageGrouping,
  maxRuns: number,
): Promise<UsageGroup[] | null> {
  const { integrationId, agent, consumerId } = range;
  if (agent !== undefined || consumerId !== undefined || grouping.model !== null) return null;
  const units = await wholeUnits(source.reads, range, DAY_MS);
  if (units === null) return null;
  const groups = new UsageGroups(source, grouping);
  const mark = await readErasureMark(source.reads, integrationId);
  for (const part of partsOutside(range, units, DAY_MS)) await addRunsOfMembers(source, groups, part, mark, maxRuns);
  const closed = await source.closedDays.find(source.reads, integrationId, units);
  if (closed !== null) await addClosedDaysOfMembers(source, groups, integrationId, closed, members);
  for (const open of outsideClosed(units, closed, 1)) {
    using _turn = await source.takeTurn();
    const days = sumDaysAndMembers({ integrationId, ...open, members: { consumers: members } });
    addMembersAndOthers(groups, await source.reads.query(days));
  }
  return groups.all();
}

/** Adds up runs by day and member: closed hours from memory, and the rest from the store. */
export async function addRunsOfMembers(
  source: UsageSource,
  groups: UsageGroups,
  part: UsageRange,
  mark: string,
  maxRuns: number,
): Promise<void> {
  const { reads, closedDays } = source;
  const { integrationId } = part;
  const hours = await wholeUnits(reads, part, HOUR_MS);
  const closed = hours === null ? null : await closedDays.findHours(reads, integrationId, hours);
  if (closed === null) return groups.addRuns(part, maxRuns);
  for (const outside of partsOutside(part, closed, HOUR_MS)) await groups.addRuns(outside, maxRuns);
  for (let hour = closed.from; hour < closed.to; hour += 1) {
    const rows = await closedDays.readHour(source, integrationId, hour, mark, maxRuns);
    const times = { fromMs: hour * HOUR_MS, toMs: (hour + 1) * HOUR_MS };
    if (rows === null) await groups.addRuns({ ...part, ...times }, maxRuns);
    else for (const row of rows) groups.addSum(row);
  }
}

/** Adds closed days by day and member, for these members and null for all others. */
export async function addClosedDaysOfMembers(
  source: UsageSource,
  groups: UsageGroups,
  integrationId: IntegrationId,
  closed: ClosedRange,
  members: readonly string[],
): Promise<void> {
  for (const row of await source.closedDays.read(source, integrationId, closed)) groups.addSum(toSumRow(row, false));
  if (members.length === 0) return;
  using _turn = await source.takeTurn();
  const days = sumDaysOfMembers({ integrationId, ...closed, members: { consumers: members } });
  addMembersAndOthers(groups, await source.reads.query(days));
}

function addMembersAndOthers(groups: UsageGroups, rows: readonly SumRow[]): void {
  groups.addRows(rows);
  for (const row of rows) {
    // The sum of the day has this member's runs too.
    if (row.consumer_id !== null && row.by_model_json === null) groups.addSum({ ...row, consumer_id: null }, -1);
  }
}
