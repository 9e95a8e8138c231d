import type { Agency, Integration, RunRecord, RunUsageRecord } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './api.ts';
import { measured, pollMs } from './traffic.ts';

/* Queries that several pages share. Keys begin with the resource's name; then follow integration and id. */

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => api().me.get({}, { signal }),
  staleTime: 60_000,
});

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  return Array.fromAsync(items);
}

export const integrationsQuery = queryOptions({
  queryKey: ['integrations'],
  queryFn: ({ signal }) => all<Integration>(api().integrations.list({ limit: 200 }, { signal })),
});

export const integrationQuery = (apiIntegrationId: string) =>
  queryOptions({
    queryKey: ['integrations', apiIntegrationId],
    queryFn: ({ signal }) => api().integrations.get({ apiIntegrationId }, { signal }),
  });

export const agenciesQuery = queryOptions({
  queryKey: ['agencies'],
  queryFn: ({ queryKey, signal }) =>
    measured(queryKey, () => all<Agency>(api().agencies.list({ limit: 200 }, { signal }))),
});

/** A change of the files of an agency is visible after this time. */
const AGENCIES_REFRESH_MS = 10_000;

/** For pages that show whether an agency is broken. */
export const watchedAgenciesQuery = {
  ...agenciesQuery,
  refetchInterval: () => pollMs([agenciesQuery.queryKey], AGENCIES_REFRESH_MS),
};

export interface ChargedRun extends Pick<RunRecord, 'apiIntegrationId' | 'runId' | 'usageRequestId' | 'status'> {
  /** Null if it is not known. */
  readonly createdAt: string | null;
}

/** A run's usage record, which has its charge. Null if there is none. */
export const chargeQuery = ({ apiIntegrationId, runId, usageRequestId, createdAt, status }: ChargedRun) =>
  queryOptions({
    queryKey: ['usage', apiIntegrationId, 'run', runId, status],
    queryFn: async ({ signal }): Promise<RunUsageRecord | null> => {
      const filter = async () => {
        if (usageRequestId !== null) return { usageRequestId };
        // A run without an id of its request is found by its time.
        const from = createdAt ?? (await api().runs.get({ apiIntegrationId, runId }, { signal })).createdAt;
        return { from, to: new Date(Date.parse(from) + 1).toISOString() };
      };
      const { items } = await api()
        .usage.list({ apiIntegrationId, limit: 200, ...(await filter()) }, { signal })
        .page();
      return items.find((record): record is RunUsageRecord => record.kind === 'run' && record.runId === runId) ?? null;
    },
  });
