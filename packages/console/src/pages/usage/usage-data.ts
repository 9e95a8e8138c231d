import type { UsageSummary } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { type Period, periodTimes } from './usage-period.ts';

export type UsageItem = UsageSummary['items'][number];
export type Unit = keyof UsageItem['charged'];

export const MEASURES = ['tokens', 'runs', 'charge'] as const;
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

export function getAmount(item: UsageItem, measure: Measure, unit: Unit | null): number {
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
