import type { Readiness, ServiceNode } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { apiUrl } from '../../app/addresses.ts';
import { api } from '../../app/api.ts';
import { fetchFields } from '../../app/fetch-fields.ts';
import { measured, pollMs } from '../../app/traffic.ts';

const REFRESH_MS = 5000;

export const nodesQuery = queryOptions({
  queryKey: ['nodes'],
  queryFn: ({ queryKey, signal }) =>
    measured(queryKey, () => Array.fromAsync<ServiceNode>(api().nodes.list({ limit: 200 }, { signal }))),
  refetchInterval: ({ queryKey }) => pollMs([queryKey], REFRESH_MS),
});

/** The state of the node that answers. */
export const readinessQuery = queryOptions({
  queryKey: ['readiness'],
  queryFn: async ({ signal }) =>
    (await fetchFields(new URL('readyz', apiUrl), { cache: 'no-store', signal })) as unknown as Readiness,
  refetchInterval: REFRESH_MS,
});
