import type { Overview } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { measured, pollMs } from '../../app/traffic.ts';

export type Measures = Overview['measures'];

const REFRESH_MS = 15_000;

/** What happened in the last 24 hours: in one integration, or in all of the owner. */
export const overviewQuery = (integration: string | null) =>
  queryOptions({
    queryKey: ['overview', integration],
    queryFn: ({ queryKey, signal }) =>
      measured(queryKey, () => api().overview.get(integration === null ? {} : { integration }, { signal })),
    refetchInterval: ({ queryKey }) => pollMs([queryKey], REFRESH_MS),
    staleTime: 5_000,
  });
