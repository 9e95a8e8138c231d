import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeCursor, encodeCursor, invalidCursor } from '../domain/list-cursor.ts';
import { admissionTimes, iso } from '../domain/time.ts';
import { addUsage, type ModelUsage, NO_USAGE, totalTokens, type Usage, usageJson } from '../domain/usage.ts';
import type { PageStart } from '../store/queries/page.ts';
import { sliceEnd, type UsageRange, usageByColumn, usageByModel } from '../store/queries/usage.ts';
import { first, type Reads } from '../store/store.ts';

export interface SummaryQuery {
  readonly groupBy: 'day' | 'consumer' | 'agent' | 'model';
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

interface Group {
  readonly key: string | null;
  runs: number;
  newestRunId: string;
  usage: Usage;
  charged: { runs: number; tokens: number; credits: number };
}

/** How many runs one query adds up: on the embedded store nothing else happens during a query. */
const SLICE_RUNS = 5_000;
const DAY_MS = 86_400_000;

/**
 * Newest first, like all lists: the group with the newest run is the first. Later pages leave out runs that were admitted
 * after the first page was read, so no group moves from one page to another.
 */
export async function usageSummary(
  reads: Reads,
  integrationId: string,
  query: SummaryQuery,
  sliceRuns: number = SLICE_RUNS,
) {
  const start = readCursor(query.cursor);
  const { fromMs, toMs } = admissionTimes(query);
  const range: UsageRange = { integrationId, fromMs, toMs, newestRunId: start?.ceiling ?? null };
  const groups = [...(await addUp(reads, range, query.groupBy, sliceRuns)).values()].sort(newestFirst);
  const ceiling = start?.ceiling ?? groups[0]?.newestRunId ?? '';
  const left = start === null ? groups : groups.filter((group) => newestFirst(start, group) < 0);
  const shown = left.slice(0, query.limit ?? 50);
  const last = shown.at(-1);
  const more = left.length > shown.length && last !== undefined;
  return {
    groupBy: query.groupBy,
    from: iso(fromMs ?? null),
    to: iso(toMs ?? null),
    items: shown.map(({ key, runs, usage, charged }) => ({ key, runs, usage: usageJson(usage), charged })),
    nextCursor: more ? encodeCursor({ createdAt: 0, id: JSON.stringify([ceiling, last.newestRunId, last.key]) }) : null,
  };
}

type GroupCursor = Pick<Group, 'key' | 'newestRunId'>;

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

async function addUp(
  reads: Reads,
  range: UsageRange,
  groupBy: SummaryQuery['groupBy'],
  sliceRuns: number,
): Promise<Map<unknown, Group>> {
  const groups = new Map<unknown, Group>();
  let before: PageStart | null = null;
  for (;;) {
    const end: { created_at: number; run_id: string } | undefined = await first(
      reads.query(sliceEnd(range, before, sliceRuns)),
    );
    const last: PageStart | null = end === undefined ? null : { createdAt: end.created_at, id: end.run_id };
    const slice = { ...range, before, last };
    if (groupBy === 'model') {
      for (const row of await reads.query(usageByModel(slice))) addModels(groups, row);
    } else {
      for (const row of await reads.query(usageByColumn(slice, groupBy))) {
        add(groups, keyOf(row.key), {
          runs: Number(row.runs),
          newestRunId: row.newest_run_id,
          usage: {
            requestCount: Number(row.request_count),
            inputTokens: Number(row.input_tokens),
            cachedTokens: Number(row.cached_tokens),
            outputTokens: Number(row.output_tokens),
            reasoningTokens: Number(row.reasoning_tokens),
          },
          charged: {
            runs: Number(row.charged_runs ?? 0),
            tokens: Number(row.charged_tokens ?? 0),
            credits: Number(row.charged_credits ?? 0),
          },
        });
      }
    }
    if (last === null) return groups;
    before = last;
    await nextTurn();
  }
}

/** A day is stored as a number of days since 1970. */
function keyOf(key: string | number | null): string | null {
  return typeof key === 'number' ? new Date(key * DAY_MS).toISOString().slice(0, 10) : key;
}

function addModels(
  groups: Map<unknown, Group>,
  row: { readonly run_id: string; readonly by_model_json: string; readonly charged_runs: number | null },
): void {
  const isCharged = (row.charged_runs ?? 0) > 0;
  for (const used of JSON.parse(row.by_model_json) as ModelUsage[]) {
    const { model, credits, ...usage } = used;
    const charged = { runs: 1, tokens: totalTokens(usage), credits };
    const free = { runs: 0, tokens: 0, credits: 0 };
    add(groups, model, { runs: 1, newestRunId: row.run_id, usage, charged: isCharged ? charged : free });
  }
}

function add(groups: Map<unknown, Group>, key: string | null, more: Omit<Group, 'key'>): void {
  let group = groups.get(key);
  if (group === undefined) {
    group = { key, runs: 0, newestRunId: '', usage: NO_USAGE, charged: { runs: 0, tokens: 0, credits: 0 } };
    groups.set(key, group);
  }
  group.runs += more.runs;
  if (more.newestRunId > group.newestRunId) group.newestRunId = more.newestRunId;
  group.usage = addUsage(group.usage, more.usage);
  group.charged.runs += more.charged.runs;
  group.charged.tokens += more.charged.tokens;
  group.charged.credits += more.charged.credits;
}
