import { hash } from 'node:crypto';
import type { IntegrationId } from '../domain/ids.ts';
import { decodeCursor, encodeCursor, invalidCursor } from '../domain/list-cursor.ts';
import { totalTokens } from '../domain/model/usage.ts';
import { HOUR_MS } from '../domain/time.ts';
import { admissionOfRun } from '../store/queries/rollup-sums.ts';
import type { UsageRange } from '../store/queries/usage.ts';
import { first } from '../store/store.ts';
import { addUpDaysOfMembers, addUpUsage, DAY_MS } from './add-up-usage.ts';
import { addUpLargestMembers } from './largest-members.ts';
import { mergeGroups, type UsageGroup, type UsageGrouping, type UsageKey, type UsageSource } from './usage-groups.ts';

const SHOWN_VALUES = 10;
const TAG_CHARACTERS = 12;
/** How long a group is. */
const UNIT_MS = { hour: HOUR_MS, day: DAY_MS } as const;

/** The values that all pages show. */
interface ShownValues {
  readonly ceiling: string;
  /** Tags of the values, because values can be long. */
  readonly tags: readonly string[];
  /** A run of each value, from which members are found again; null in cursors of earlier versions. */
  readonly runIds: readonly string[] | null;
}

/** The item before the first of a page. */
interface SplitPosition extends ShownValues {
  /** A day or an hour, as the items show it. */
  readonly day: string;
  readonly rank: number;
}

export interface SplitPage {
  readonly groups: readonly UsageGroup[];
  readonly nextCursor: string | null;
}

export interface SplitQuery {
  readonly groupBy: 'hour' | 'day';
  readonly splitBy: UsageKey;
  readonly model: string | null;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/**
 * Adds up by day or hour and by a second key: its ten values with the most tokens in the whole range, and null for all others.
 * The newest is first; within a day or hour the value with the most tokens in the range is first, and null is last. The first page
 * decides which values these are. It never holds a group for each day and member: it adds up twice, or the days that are not
 * closed and only the largest members of the others.
 */
export async function usageByTimeAndSplit(
  source: UsageSource,
  range: UsageRange,
  query: SplitQuery,
  maxRuns: number,
): Promise<SplitPage> {
  const { groupBy, splitBy, model, limit } = query;
  const start = readCursor(query.cursor);
  const whole: UsageGrouping = { groupBy, splitBy, model, getSplit: (value) => value };
  const all = start === null ? await addUpAll(source, range, whole, maxRuns) : null;
  const values = start ?? all?.values ?? (await largestMembers(source, range, query, maxRuns));
  const { ceiling, tags, runIds } = values;
  if (ceiling === '') return { groups: [], nextCursor: null };
  const getRank = ranking(tags);
  const getSplit = (value: string | null) => (getRank(value) < SHOWN_VALUES ? value : null);
  const left = { ...range, toMs: getEnd(range.toMs, start?.day, UNIT_MS[groupBy]), newestRunId: ceiling };
  const found =
    all === null
      ? await addUpShown(source, left, { ...whole, getSplit }, values, maxRuns)
      : mergeGroups(all.groups, ({ key, split }) => ({ key, split: getSplit(split) }));
  const placed = found
    .map((group) => ({ group, day: group.key ?? '', rank: getRank(group.split) }))
    .filter((entry) => start === null || inOrder(start, entry) < 0)
    .sort(inOrder);
  const page = placed.slice(0, limit);
  const last = page.at(-1);
  const nextCursor =
    last === undefined || page.length === placed.length
      ? null
      : encodeCursor({ createdAt: 0, id: JSON.stringify([ceiling, last.day, last.rank, tags, runIds]) });
  return { groups: page.map(({ group }) => group), nextCursor };
}

type DayRank = Pick<SplitPosition, 'day' | 'rank'>;

function inOrder(one: DayRank, other: DayRank): number {
  if (one.day !== other.day) return one.day < other.day ? 1 : -1;
  return one.rank - other.rank;
}

/** Adds up by day and by the values that are shown. */
async function addUpShown(
  source: UsageSource,
  range: UsageRange,
  grouping: UsageGrouping,
  values: ShownValues,
  maxRuns: number,
): Promise<UsageGroup[]> {
  const hasDays = grouping.splitBy === 'consumer' && grouping.groupBy === 'day';
  const members = hasDays ? await findMembers(source, range.integrationId, values) : null;
  const found = members === null ? null : await addUpDaysOfMembers(source, range, members, grouping, maxRuns);
  return found ?? addUpUsage(source, range, grouping, maxRuns);
}

/** Finds the values with the most tokens, and the newest run that counts. */
function largestValues(groups: readonly UsageGroup[]): ShownValues {
  const byValue = mergeGroups(groups, ({ split }) => ({ key: split, split: null }));
  const tags = largestFirst(byValue).map(({ key }) => getTag(key ?? ''));
  return { ceiling: newestRunIn(groups), tags, runIds: null };
}

/** Adds up all days for the first page. Resolves to null if there can be many members and no day is closed. */
async function addUpAll(
  source: UsageSource,
  range: UsageRange,
  whole: UsageGrouping,
  maxRuns: number,
): Promise<{ readonly values: ShownValues; readonly groups: readonly UsageGroup[] } | null> {
  if (whole.splitBy !== 'consumer') {
    const groups = await addUpUsage(source, range, whole, maxRuns);
    return { values: largestValues(groups), groups };
  }
  // Members have sums by day only.
  if (whole.groupBy !== 'day') return null;
  if (whole.model !== null || range.agent !== undefined || range.consumerId !== undefined) return null;
  const found = await addUpLargestMembers(source, range, SHOWN_VALUES, maxRuns);
  if (found === null) return null;
  const { members, newestRunId, groups } = found;
  const tags = members.map(({ consumerId }) => getTag(consumerId));
  return { values: { ceiling: newestRunId, tags, runIds: members.map(({ runId }) => runId) }, groups };
}

async function largestMembers(
  source: UsageSource,
  range: UsageRange,
  { splitBy, model }: SplitQuery,
  maxRuns: number,
): Promise<ShownValues> {
  const grouping: UsageGrouping = { groupBy: splitBy, splitBy: null, model, getSplit: () => null };
  const groups = await addUpUsage(source, range, grouping, maxRuns);
  const largest = largestFirst(groups);
  return {
    ceiling: newestRunIn(groups),
    tags: largest.map(({ key }) => getTag(key ?? '')),
    runIds: largest.map(({ newestRunId }) => newestRunId),
  };
}

const largestFirst = (groups: readonly UsageGroup[]) =>
  groups
    .filter(({ key }) => key !== null)
    .sort(mostTokensFirst)
    .slice(0, SHOWN_VALUES);

function newestRunIn(groups: readonly UsageGroup[]): string {
  let newest = '';
  for (const { newestRunId } of groups) if (newestRunId > newest) newest = newestRunId;
  return newest;
}

/** Resolves to null if the runs belong to other members now: one was erased. */
async function findMembers({ reads }: UsageSource, integrationId: IntegrationId, { tags, runIds }: ShownValues) {
  if (runIds === null) return null;
  const runs = await Promise.all(runIds.map((runId) => first(reads.all(admissionOfRun, { integrationId, runId }))));
  const members = runs.map((run) => run?.consumer_id ?? '');
  return members.length > 0 && members.every((member, index) => getTag(member) === tags[index]) ? members : null;
}

function mostTokensFirst(one: UsageGroup, other: UsageGroup): number {
  const byTokens = totalTokens(other.usage) - totalTokens(one.usage);
  if (byTokens !== 0) return byTokens;
  if (one.runs !== other.runs) return other.runs - one.runs;
  return (one.key ?? '') < (other.key ?? '') ? -1 : 1;
}

const getTag = (value: string): string => hash('sha256', value, 'base64url').slice(0, TAG_CHARACTERS);

/** Returns a value's rank: 0 for the most tokens, `SHOWN_VALUES` for the values that are not shown, and for null. */
function ranking(tags: readonly string[]): (value: string | null) => number {
  const ranks = new Map<string, number>();
  const rank = (value: string) => {
    const index = tags.indexOf(getTag(value));
    return index === -1 ? SHOWN_VALUES : index;
  };
  return (value) => (value === null ? SHOWN_VALUES : ranks.getOrInsertComputed(value, rank));
}

/** A later page has no run after the day or hour that it starts with. */
function getEnd(toMs: number | undefined, day: string | undefined, unitMs: number): number | undefined {
  if (day === undefined) return toMs;
  return Math.min(toMs ?? Number.POSITIVE_INFINITY, Date.parse(day) + unitMs);
}

function readCursor(cursor: string | undefined): SplitPosition | null {
  const position = decodeCursor(cursor);
  if (position === null) return null;
  try {
    const [ceiling, day, rank, tags, runIds = null] = JSON.parse(position.id) as unknown[];
    const isDay = typeof day === 'string' && !Number.isNaN(Date.parse(day));
    const hasTags = isTexts(tags) && (runIds === null || isTexts(runIds));
    if (typeof ceiling === 'string' && isDay && typeof rank === 'number' && hasTags)
      return { ceiling, day, rank, tags, runIds };
  } catch {
    // The error is thrown below.
  }
  throw invalidCursor();
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');
