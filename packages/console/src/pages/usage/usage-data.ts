import type { UsageSummary } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { type Period, periodTimes } from './usage-period.ts';

export type UsageItem = UsageSummary['items'][number];
export type Unit = keyof UsageItem['charged'];

export const MEASURES = ['cost', 'tokens', 'runs', 'failed', 'charge'] as const;
export type Measure = (typeof MEASURES)[number];

export const SPLITS = ['member', 'agent', 'model'] as const;
export type Split = (typeof SPLITS)[number];

const SPLIT_BY = { member: 'consumer', agent: 'agent', model: 'model' } as const;

export interface UsageFilters {
  readonly period: Period;
  readonly member: string | undefined;
  readonly agent: string | undefined;
  readonly model: string | undefined;
}

/** A period's usage, with what was asked for. It is shown until the answer to another question arrives. */
export interface Usage {
  readonly period: Period;
  readonly split: Split | null;
  /** One item for each day. */
  readonly days: readonly UsageItem[];
  /** One item for each day and each value of the split. A run of several models is in several of them. */
  readonly parts: readonly UsageItem[];
}

export const usageQuery = (apiIntegrationId: string, filters: UsageFilters, split: Split | null) =>
  queryOptions({
    queryKey: ['usage', apiIntegrationId, filters, split],
    queryFn: async ({ signal }): Promise<Usage> => {
      const { period, member, agent, model } = filters;
      const input = {
        apiIntegrationId,
        groupBy: 'day' as const,
        limit: 200,
        ...periodTimes(period),
        consumerId: member,
        agent,
        model,
      };
      const days = await Array.fromAsync(api().usage.summary(input, { signal }));
      if (split === null) return { period, split, days, parts: days };
      const parts = await Array.fromAsync(api().usage.summary({ ...input, splitBy: SPLIT_BY[split] }, { signal }));
      return { period, split, days, parts };
    },
    staleTime: 30_000,
  });

/** One item for each day and each value of the split. */
export const partsQuery = (apiIntegrationId: string, filters: UsageFilters, splitBy: 'error' | 'agencyVersion') =>
  queryOptions({
    queryKey: ['usage', apiIntegrationId, filters, splitBy],
    queryFn: ({ signal }) => {
      const { period, member, agent, model } = filters;
      const input = { apiIntegrationId, groupBy: 'day' as const, splitBy, limit: 200, ...periodTimes(period) };
      return Array.fromAsync(api().usage.summary({ ...input, consumerId: member, agent, model }, { signal }));
    },
    staleTime: 30_000,
  });

/** The days on which runs of another version of the agency began, as indexes. */
export function findChanges(items: readonly UsageItem[], days: readonly string[]): readonly number[] {
  const byDay = Map.groupBy(items, ({ key }) => key);
  const marks: number[] = [];
  let known: ReadonlySet<string> | null = null;
  for (const [index, day] of days.entries()) {
    const used = (byDay.get(day) ?? []).flatMap(({ split }) => split ?? []);
    if (used.length === 0) continue;
    const before: ReadonlySet<string> | null = known;
    if (before !== null && used.some((version) => !before.has(version))) marks.push(index);
    known = new Set(used);
  }
  return marks;
}

/** The agents or models that have usage in the period: a filter's choices. */
export const usedNamesQuery = (apiIntegrationId: string, period: Period, groupBy: 'agent' | 'model') =>
  queryOptions({
    queryKey: ['usage', apiIntegrationId, 'names', period, groupBy],
    queryFn: async ({ signal }) => {
      const { items } = await api()
        .usage.summary({ apiIntegrationId, groupBy, limit: 200, ...periodTimes(period) }, { signal })
        .page();
      return items.flatMap(({ key }) => (key === null ? [] : [key])).sort();
    },
    staleTime: 60_000,
  });

/** One part of each day: a member, an agent, a model, the others (null), or the whole day. */
export interface Series {
  readonly key: string | null;
  /** One value for each day of the period. */
  readonly values: readonly number[];
  readonly total: number;
}

/** The days without a cost have a run whose model has no price, or several currencies. They are left out. */
export function sumCosts(items: readonly UsageItem[]) {
  const costs = items.flatMap(({ cost }) => cost ?? []);
  const currency = costs.at(0)?.currency;
  if (currency === undefined || costs.some((one) => one.currency !== currency)) return { cost: null, missingDays: 0 };
  const amount = costs.reduce((sum, one) => sum + one.amount, 0);
  return { cost: { amount, currency }, missingDays: items.length - costs.length };
}

export function getAmount(item: UsageItem, measure: Measure, unit: Unit | null): number {
  if (measure === 'cost') return item.cost?.amount ?? 0;
  if (measure === 'failed') return item.failed;
  if (measure === 'runs') return item.runs;
  return measure === 'tokens' || unit === null ? item.usage.total_tokens : item.charged[unit];
}

/** The largest series first; the others are last. */
export function getSeries(
  items: readonly UsageItem[],
  days: readonly string[],
  amount: (item: UsageItem) => number,
): readonly Series[] {
  const indexes = new Map(days.map((day, index) => [day, index]));
  const byKey = new Map<string | null, number[]>();
  for (const item of items) {
    const index = indexes.get(item.key ?? '');
    if (index === undefined) continue;
    const key = item.split ?? null;
    const values = byKey.get(key) ?? days.map(() => 0);
    values[index] = (values[index] ?? 0) + amount(item);
    byKey.set(key, values);
  }
  return [...byKey]
    .map(([key, values]) => ({ key, values, total: values.reduce((sum, value) => sum + value, 0) }))
    .sort((one, other) => Number(one.key === null) - Number(other.key === null) || other.total - one.total);
}
