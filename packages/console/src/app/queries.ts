import type { Agency, Integration } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './api.ts';

/* Queries that several pages share. Keys begin with the name of the resource; then follow integration and id. */

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
  queryFn: ({ signal }) => all<Agency>(api().agencies.list({ limit: 200 }, { signal })),
});
