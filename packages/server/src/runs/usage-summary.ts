import type { IntegrationId } from '../domain/ids.ts';
import { decodeCursor, encodeCursor, invalidCursor } from '../domain/list-cursor.ts';
import { costJson } from '../domain/model/cost.ts';
import { usageJson } from '../domain/model/usage.ts';
import { Refusal } from '../domain/refusal.ts';
import { readMeasures } from '../domain/run/measures.ts';
import { admissionTimes, iso } from '../domain/time.ts';
import type { UsageRange } from '../store/queries/usage.ts';
import { addUpUsage } from './add-up-usage.ts';
import { isByModel, type UsageGroup, type UsageSource } from './usage-groups.ts';
import { addUpPageOfMembers } from './usage-members.ts';
import { usageByTimeAndSplit } from './usage-split.ts';

export interface SummaryQuery {
  readonly groupBy: 'hour' | 'day' | 'consumer' | 'agent' | 'model';
  readonly splitBy?: 'consumer' | 'agent' | 'model' | 'error' | 'agencyVersion';
  readonly consumerId?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly from?: string;
  readonly to?: string;
  /** True: only reruns. By default they are left out. */
  readonly rerun?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
}

/** How many runs one query adds up. */
const SLICE_RUNS = 5_000;
const DEFAULT_LIMIT = 50;

/** Adds up an integration's usage. */
export async function usageSummary(
  source: UsageSource,
  integrationId: IntegrationId,
  query: SummaryQuery,
  sliceRuns: number = SLICE_RUNS,
) {
  const { groupBy, splitBy, consumerId, agent } = query;
  const { fromMs, toMs } = admissionTimes(query);
  const { rerun = false } = query;
  const range: UsageRange = { integrationId, consumerId, agent, fromMs, toMs, newestRunId: null, rerun };
  const period = { from: iso(fromMs ?? null), to: iso(toMs ?? null) };
  const { model = null, limit = DEFAULT_LIMIT, cursor } = query;
  const byModel = isByModel({ groupBy, splitBy: splitBy ?? null, model });
  if (splitBy === undefined) {
    const { groups, nextCursor } = await pageOfGroups(source, range, query, sliceRuns);
    return { groupBy, ...period, items: groups.map((group) => groupJson(group, byModel)), nextCursor };
  }
  if (groupBy !== 'day' && groupBy !== 'hour') {
    throw new Refusal(
      'invalid_request',
      '`splitBy` is only for `groupBy=day` and `groupBy=hour`; leave it out, or group by day or hour.',
    );
  }
  const page = await usageByTimeAndSplit(source, range, { groupBy, splitBy, model, limit, cursor }, sliceRuns);
  const items = page.groups.map((group) => ({ ...groupJson(group, byModel), split: group.split }));
  return { groupBy, ...period, items, nextCursor: page.nextCursor };
}

/**
 * Newest first, like all lists: the group with the newest run is the first. Later pages leave out runs that were admitted
 * after the first page was read, so no group moves from one page to another.
 */
async function pageOfGroups(source: UsageSource, range: UsageRange, query: SummaryQuery, sliceRuns: number) {
  const { groupBy, model = null, limit = DEFAULT_LIMIT } = query;
  const start = readCursor(query.cursor);
  const grouping = { groupBy, splitBy: null, model, getSplit: () => null };
  const counted = { ...range, newestRunId: start?.ceiling ?? null };
  const isByMember = groupBy === 'consumer' && range.consumerId === undefined && range.agent === undefined;
  const page = { afterRunId: start?.newestRunId ?? null, limit: limit + 1 };
  const members = isByMember && model === null ? await addUpPageOfMembers(source, counted, page, sliceRuns) : null;
  const groups = (members ?? (await addUpUsage(source, counted, grouping, sliceRuns))).sort(newestFirst);
  const ceiling = start?.ceiling ?? groups[0]?.newestRunId ?? '';
  const left = start === null ? groups : groups.filter((group) => newestFirst(start, group) < 0);
  const shown = left.slice(0, limit);
  const last = shown.at(-1);
  const more = left.length > shown.length && last !== undefined;
  const position = more ? JSON.stringify([ceiling, last.newestRunId, last.key]) : '';
  return { groups: shown, nextCursor: more ? encodeCursor({ createdAt: 0, id: position }) : null };
}

/** A group as an answer has it. `byModel`: it adds up models, not runs. */
export function groupJson({ key, runs, ended, usage, charged, measures }: UsageGroup, byModel: boolean) {
  const { cost, ...measured } = readMeasures(measures, ended, byModel);
  return { key, runs, ...measured, usage: usageJson(usage), charged, cost: costJson(cost) };
}

type GroupCursor = Pick<UsageGroup, 'key' | 'newestRunId'>;

function newestFirst(a: GroupCursor, b: GroupCursor): number {
  if (a.newestRunId !== b.newestRunId) return a.newestRunId < b.newestRunId ? 1 : -1;
  // A run can have used two models.
  return (a.key ?? '') < (b.key ?? '') ? -1 : Number(a.key !== b.key);
}

function readCursor(cursor: string | undefined): (GroupCursor & { readonly ceiling: string }) | null {
  const position = decodeCursor(cursor);
  if (position === null) return null;
  try {
    const [ceiling, newestRunId, key] = JSON.parse(position.id) as unknown[];
    const known = typeof ceiling === 'string' && typeof newestRunId === 'string';
    if (known && (key === null || typeof key === 'string')) return { ceiling, newestRunId, key };
  } catch {
    // The check below refuses it.
  }
  throw invalidCursor();
}
