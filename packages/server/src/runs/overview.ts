import type { IntegrationId, OwnerId } from '../domain/ids.ts';
import { costJson } from '../domain/model/cost.ts';
import { totalTokens } from '../domain/model/usage.ts';
import { readMeasures } from '../domain/run/measures.ts';
import { HOUR_MS, iso } from '../domain/time.ts';
import { periodDays } from '../store/queries/allowance.ts';
import {
  countActiveRuns,
  disabledEndpoints,
  exhaustedMembers,
  expiringKeys,
  integrationsOfOwner,
  newestFailures,
  openQuestions,
} from '../store/queries/overview.ts';
import { first } from '../store/store.ts';
import { addUpUsage } from './add-up-usage.ts';
import { mergeGroups, type UsageGroup, type UsageGrouping, type UsageSource } from './usage-groups.ts';

const DEFAULT_HOURS = 24;
const SLICE_RUNS = 5_000;
/** Failed runs that are read for each integration. */
const MAX_FAILED = 200;
/** Runs whose members are looked at, for each integration. */
const MAX_RECENT = 500;
const MAX_QUESTIONS = 1_000;
/** Every list has at most so many. */
const MAX_ITEMS = 20;
const EXPIRES_WITHIN_MS = 14 * 24 * HOUR_MS;

const ALL: UsageGrouping = { groupBy: 'agent', splitBy: null, model: null, getSplit: () => null };

export interface OverviewQuery {
  readonly ownerId: OwnerId;
  /** The only integrations that count. Null for all the owner's. */
  readonly only: readonly IntegrationId[] | null;
  /** True if the caller may see the owner's keys. */
  readonly seesKeys: boolean;
  readonly hours?: number | undefined;
}

interface Failure {
  readonly code: string;
  readonly error: string;
  count: number;
  runId: string;
  newest: number;
}

/**
 * What happened in the last hours, and what needs a person. The hours are whole, because parts are not in the
 * rollups: the first one is 23 hours before the current one. Every part is bounded, and is found by an index.
 */
export async function overview(source: UsageSource, { ownerId, only, seesKeys, hours }: OverviewQuery) {
  const { reads, takeTurn } = source;
  const now = Date.now();
  const lengthMs = (hours ?? DEFAULT_HOURS) * HOUR_MS;
  const fromMs = Math.floor(now / HOUR_MS) * HOUR_MS + HOUR_MS - lengthMs;
  const sinceHour = (fromMs - lengthMs) / HOUR_MS;
  const owned = await reads.all(integrationsOfOwner, { ownerId, sinceHour });
  const shown = owned.filter((row) => only === null || only.includes(row.integration_id));
  const [current, before]: [UsageGroup[], UsageGroup[]] = [[], []];
  const failures = new Map<string, Failure>();
  const exhausted: { apiIntegrationId: string; consumerId: string }[] = [];
  let activeRuns = 0;
  for (const { integration_id: integrationId } of shown.filter(({ has_runs: hasRuns }) => hasRuns === 1)) {
    const range = { integrationId, consumerId: undefined, agent: undefined, newestRunId: null, rerun: false };
    current.push(...(await addUpUsage(source, { ...range, fromMs, toMs: undefined }, ALL, SLICE_RUNS)));
    before.push(...(await addUpUsage(source, { ...range, fromMs: fromMs - lengthMs, toMs: fromMs }, ALL, SLICE_RUNS)));
    using _turn = await takeTurn();
    activeRuns += Number((await first(reads.all(countActiveRuns, { integrationId })))?.runs ?? 0);
    for (const run of await reads.all(newestFailures, { integrationId, fromMs, limit: MAX_FAILED }))
      addFailure(failures, run);
    const recent = { integrationId, fromMs, limit: MAX_RECENT };
    for (const { consumer_id: consumerId } of await reads.query(exhaustedMembers({ ...recent, ...periodDays(now) })))
      exhausted.push({ apiIntegrationId: integrationId, consumerId });
  }
  using _turn = await takeTurn();
  const questions = only?.length === 0 ? [] : await reads.query(openQuestions(ownerId, only, MAX_QUESTIONS));
  const disabled = only?.length === 0 ? [] : await reads.query(disabledEndpoints(ownerId, only, MAX_ITEMS));
  const keys = seesKeys
    ? await reads.all(expiringKeys, { ownerId, now, until: now + EXPIRES_WITHIN_MS, limit: MAX_ITEMS })
    : [];
  return {
    /** Used by these integrations. */
    agencies: new Set(shown.map(({ agency }) => agency)),
    from: iso(fromMs),
    to: iso(now),
    measures: measuresJson(current),
    before: measuresJson(before),
    activeRuns,
    openQuestions: questions.length,
    failures: [...failures.values()]
      .sort((one, other) => other.count - one.count || other.newest - one.newest)
      .slice(0, MAX_ITEMS)
      .map(({ newest: _, ...failure }) => failure),
    exhaustedMembers: exhausted.slice(0, MAX_ITEMS),
    expiringKeys: keys.map((key) => ({
      keyId: key.key_id,
      name: JSON.parse(key.name_json) as string,
      expiresAt: iso(key.expires_at ?? 0),
    })),
    disabledWebhooks: disabled.map((row) => ({
      apiIntegrationId: row.integration_id,
      endpointId: row.endpoint_id,
      reason: row.disabled_reason ?? '',
    })),
  };
}

function measuresJson(groups: readonly UsageGroup[]) {
  const [all] = mergeGroups(groups, () => ({ key: null, split: null }));
  const { cost, ...measured } = readMeasures(all?.measures ?? {}, all?.ended ?? 0, false);
  return {
    runs: all?.runs ?? 0,
    ...measured,
    tokens: all === undefined ? 0 : totalTokens(all.usage),
    cost: costJson(cost),
  };
}

function addFailure(
  failures: Map<string, Failure>,
  run: { run_id: string; created_at: number; error_code: string | null; error_message: string | null },
): void {
  const [code, error] = [run.error_code ?? '', run.error_message ?? ''];
  const key = JSON.stringify([code, error]);
  const known = failures.get(key);
  const newest = Number(run.created_at);
  if (known === undefined) failures.set(key, { code, error, count: 1, runId: run.run_id, newest });
  else {
    known.count += 1;
    if (newest > known.newest) Object.assign(known, { runId: run.run_id, newest });
  }
}
