import type { Integration } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { measured, pollMs } from '../../app/traffic.ts';

export interface RunCounts {
  readonly runs: number;
  readonly failed: number;
}

/** Runs of the last 24 hours. */
export interface AgencyUsage {
  /** By the agent at which they were started. */
  readonly agents: ReadonlyMap<string, RunCounts>;
  /** Only of the integrations that were read. */
  readonly integrations: ReadonlyMap<string, RunCounts>;
}

const HOUR_MS = 3_600_000;
const REFRESH_MS = 60_000;
/** Each integration is one request. */
export const MAX_INTEGRATIONS = 20;
const NO_RUNS: RunCounts = { runs: 0, failed: 0 };

const add = (sums: Map<string, RunCounts>, key: string, { runs, failed }: RunCounts) => {
  const before = sums.get(key) ?? NO_RUNS;
  sums.set(key, { runs: before.runs + runs, failed: before.failed + failed });
};

/** Adds up what the runs of these integrations did. The period begins with an hour, as the sums of the server do. */
export const agencyUsageQuery = (integrations: readonly Integration[]) => {
  const ids = integrations.slice(0, MAX_INTEGRATIONS).map(({ apiIntegrationId }) => apiIntegrationId);
  return queryOptions({
    queryKey: ['agency-usage', ids],
    queryFn: ({ queryKey, signal }) =>
      measured(queryKey, async (): Promise<AgencyUsage> => {
        const from = new Date(Math.floor(Date.now() / HOUR_MS - 23) * HOUR_MS).toISOString();
        const agents = new Map<string, RunCounts>();
        const sums = new Map(ids.map((id) => [id, NO_RUNS]));
        const readOne = async (apiIntegrationId: string) => {
          const input = { apiIntegrationId, groupBy: 'agent', from, limit: 200 } as const;
          for await (const item of api().usage.summary(input, { signal })) {
            add(agents, item.key ?? '', item);
            add(sums, apiIntegrationId, item);
          }
        };
        await Promise.all(ids.map(readOne));
        return { agents, integrations: sums };
      }),
    refetchInterval: ({ queryKey }) => pollMs([queryKey], REFRESH_MS),
    staleTime: 30_000,
    enabled: ids.length > 0,
  });
};
