import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { measured, pollMs } from '../../app/traffic.ts';

/** A schedule changes with its ticks. */
export const REFRESH_MS = 15_000;

/** Everything that is shown about the schedules of an integration, for what changes them. */
export const schedulesKey = (apiIntegrationId: string) => ['schedules', apiIntegrationId];

/** A schedule may have a large request, so it is measured. */
export const scheduleQuery = (apiIntegrationId: string, scheduleId: string) =>
  queryOptions({
    queryKey: [...schedulesKey(apiIntegrationId), scheduleId],
    queryFn: ({ queryKey, signal }) =>
      measured(queryKey, () => api().schedules.get({ apiIntegrationId, scheduleId }, { signal })),
    refetchInterval: ({ queryKey, state }) => (state.status === 'success' ? pollMs([queryKey], REFRESH_MS) : false),
  });
