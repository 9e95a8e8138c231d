import { totalTokens } from '../domain/usage.ts';
import { tokensOfMembers } from '../store/queries/closed-days.ts';
import type { UsageRange } from '../store/queries/usage.ts';
import { DAY_MS, partsOutside, wholeUnits } from './add-up-usage.ts';
import { type UsageGrouping, UsageGroups, type UsageSource } from './usage-groups.ts';

const MEMBERS_A_QUERY = 500;

const BY_MEMBER: UsageGrouping = { groupBy: 'consumer', splitBy: null, model: null, splitOf: () => null };

export interface LargeMember {
  readonly consumerId: string;
  readonly tokens: number;
  readonly runs: number;
  /** Any run of the member. */
  readonly runId: string;
}

/**
 * Finds the members with the most tokens in a range, and its newest run. A member whose runs are all in closed days is among
 * the largest only if it is among the largest of these days, which are known. Members with other runs are added up.
 * Resolves to null if no day of the range is closed.
 */
export async function findLargestMembers(
  source: UsageSource,
  range: UsageRange,
  count: number,
  maxRuns: number,
): Promise<{ readonly newestRunId: string; readonly members: readonly LargeMember[] } | null> {
  const { reads, takeTurn, closedDays } = source;
  const { integrationId } = range;
  const units = await wholeUnits(reads, range, DAY_MS);
  const closed = units === null ? null : await closedDays.find(reads, integrationId, units);
  if (closed === null) return null;

  const outside = new UsageGroups(source, BY_MEMBER);
  for (const part of partsOutside(range, closed, DAY_MS)) await outside.addRuns(part, maxRuns);
  const groups = outside.all();
  const byMember = new Map(groups.flatMap((group) => (group.key === null ? [] : [[group.key, group]])));
  const largest = await closedDays.largestMembers(source, integrationId, closed, count);
  const candidates = [...new Set([...largest, ...byMember.keys()])];
  const members: LargeMember[] = [];
  for (let begin = 0; begin < candidates.length; begin += MEMBERS_A_QUERY) {
    using _turn = await takeTurn();
    const some = candidates.slice(begin, begin + MEMBERS_A_QUERY);
    const rows = await reads.query(tokensOfMembers({ integrationId, ...closed }, some));
    const known = new Map(rows.map((row) => [row.consumer_id, row]));
    for (const consumerId of some) {
      const [group, row] = [byMember.get(consumerId), known.get(consumerId)];
      members.push({
        consumerId,
        tokens: (group === undefined ? 0 : totalTokens(group.usage)) + Number(row?.tokens ?? 0),
        runs: (group?.runs ?? 0) + Number(row?.runs ?? 0),
        runId: group?.newestRunId ?? row?.newest_run_id ?? '',
      });
    }
  }
  const newest = [...groups.map(({ newestRunId }) => newestRunId)];
  for (const row of await closedDays.read(source, integrationId, closed)) newest.push(row.newest_run_id);
  return {
    newestRunId: newest.reduce((last, runId) => (runId > last ? runId : last), ''),
    members: members
      .filter(({ runs }) => runs > 0)
      .sort(mostTokensFirst)
      .slice(0, count),
  };
}

function mostTokensFirst(one: LargeMember, other: LargeMember): number {
  if (one.tokens !== other.tokens) return other.tokens - one.tokens;
  if (one.runs !== other.runs) return other.runs - one.runs;
  return one.consumerId < other.consumerId ? -1 : 1;
}
