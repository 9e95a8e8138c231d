import type { WebhookDelivery } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { measured, pollMs } from '../../app/traffic.ts';

/** An endpoint is disabled by its receiver's answers, and a pending delivery changes with the next attempt. */
const IDLE_REFRESH_MS = 15_000;
const PENDING_REFRESH_MS = 2000;

/** How soon deliveries are read again. */
export const refreshMs = (deliveries: readonly WebhookDelivery[]): number =>
  deliveries.some(({ status }) => status === 'pending') ? PENDING_REFRESH_MS : IDLE_REFRESH_MS;

/** Everything that is shown about the endpoints of an integration, for what changes them. */
export const webhooksKey = (apiIntegrationId: string) => ['webhooks', apiIntegrationId];

/** At most 20: the API permits no more. */
export const endpointsQuery = (apiIntegrationId: string) =>
  queryOptions({
    queryKey: [...webhooksKey(apiIntegrationId), 'endpoints'],
    queryFn: ({ signal }) => Array.fromAsync(api().webhooks.list({ apiIntegrationId, limit: 50 }, { signal })),
    refetchInterval: IDLE_REFRESH_MS,
  });

export const endpointQuery = (apiIntegrationId: string, endpointId: string) =>
  queryOptions({
    queryKey: [...webhooksKey(apiIntegrationId), endpointId],
    queryFn: ({ signal }) => api().webhooks.get({ apiIntegrationId, endpointId }, { signal }),
    refetchInterval: ({ state }) => (state.status === 'success' ? IDLE_REFRESH_MS : false),
  });

export interface DeliveryIds {
  readonly apiIntegrationId: string;
  readonly endpointId: string;
  readonly deliveryId: string;
}

export const deliveryQuery = (ids: DeliveryIds) =>
  queryOptions({
    queryKey: [...webhooksKey(ids.apiIntegrationId), ids.endpointId, 'delivery', ids.deliveryId],
    queryFn: ({ queryKey, signal }) => measured(queryKey, () => api().webhooks.delivery({ ...ids }, { signal })),
    refetchInterval: ({ queryKey, state: { data } }) =>
      data === undefined || data.status !== 'pending' ? false : pollMs([queryKey], PENDING_REFRESH_MS),
  });
