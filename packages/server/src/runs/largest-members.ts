import { totalTokens } from '../domain/model/usage.ts';
import type { UsageRange } from '../store/queries/usage.ts';
import { addClosedDaysOfMembers, addRunsOfMembers, DAY_MS, partsOutside, wholeUnits } from './add-up-usage.ts';
import { readErasureMark } from './closed-days.ts';
import { mergeGroups, type UsageGroup, type UsageGrouping, UsageGroups, type UsageSource } from './usage-groups.ts';

const BY_DAY_AND_MEMBER: UsageGrouping = {
  ...{ groupBy: 'day', splitBy: 'consumer', model: null },
  getSplit: (value) => value,
};

export interface LargeMember {
  readonly consumerId: string;
  readonly tokens: number;
  readonly runs: number;
  /** Any run of the member. */
  readonly runId: string;
}

export interface LargestMembers {
  readonly members: readonly LargeMember[];
  readonly newestRunId: string;
  /** By day and member, for these members and null for all others. */
  readonly groups: readonly UsageGroup[];
}

/**
 * Finds the members with the most tokens in a range, and adds up its days. A member whose runs are all in closed days is among
 * the largest only if it is among the largest of these days, which are known. Members with other runs are added up.
 * Resolves to null if no day of the range is closed.
 */
export async function addUpLargestMembers(
  source: UsageSource,
  range: UsageRange,
  count: number,
  maxRuns: number,
): Promise<LargestMembers | null> {
  const { reads, closedDays } = source;
  const { integrationId } = range;
  const units = await wholeUnits(reads, range, DAY_MS);
  const closed = units === null ? null : await closedDays.find(reads, integrationId, units);
  if (closed === null) return null;

  const groups = new UsageGroups(source, BY_DAY_AND_MEMBER);
  const mark = await readErasureMark(reads, integrationId);
  for (const part of partsOutside(range, closed, DAY_MS)) await addRunsOfMembers(source, groups, part, mark, maxRuns);
  const outside = mergeGroups(groups.all(), ({ split }) => ({ key: split, split: null }));
  const byMember = new Map(outside.flatMap((group) => (group.key === null ? [] : [[group.key, group]])));
  const known = await closedDays.largestMembers(source, integrationId, closed, mark, count);
  const candidates = [...new Set([...known, ...byMember.keys()])];
  const inClosedDays = await closedDays.readTotals(source, integrationId, closed, mark, candidates);
  const totals = candidates.map((consumerId, index) =>
    addTotal(consumerId, inClosedDays[index], byMember.get(consumerId)),
  );
  const members = totals
    .filter(({ runs }) => runs > 0)
    .sort(mostTokensFirst)
    .slice(0, count);
  const ids = new Set(members.map(({ consumerId }) => consumerId));
  await addClosedDaysOfMembers(source, groups, integrationId, closed, [...ids]);
  const all = mergeGroups(groups.all(), ({ key, split }) => ({ key, split: ids.has(split ?? '') ? split : null }));
  const newestRunId = all.reduce((newest, group) => (group.newestRunId > newest ? group.newestRunId : newest), '');
  return { members, newestRunId, groups: all };
}

/** Adds a member's tokens in closed days to those of its other runs. */
function addTotal(
  consumerId: string,
  closed: Omit<LargeMember, 'consumerId'> | undefined,
  other: UsageGroup | undefined,
): LargeMember {
  return {
    consumerId,
    tokens: (other === undefined ? 0 : totalTokens(other.usage)) + (closed?.tokens ?? 0),
    runs: (other?.runs ?? 0) + (closed?.runs ?? 0),
    runId: other?.newestRunId ?? closed?.runId ?? '',
  };
}

function mostTokensFirst(one: LargeMember, other: LargeMember): number {
  if (one.tokens !== other.tokens) return other.tokens - one.tokens;
  if (one.runs !== other.runs) return other.runs - one.runs;
  return one.consumerId < other.consumerId ? -1 : 1;
}
