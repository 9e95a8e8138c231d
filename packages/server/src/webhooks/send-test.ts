import { type IntegrationId, newId } from '../domain/ids.ts';
import { iso } from '../domain/time.ts';
import { insertDelivery, insertEvent } from '../store/queries/webhook-deliveries.ts';
import { type EndpointDeps, findEndpoint } from './endpoint-deps.ts';
import { deliveryJson } from './endpoint-json.ts';
import { newDelivery } from './new-delivery.ts';

/** Sends a `webhook.test` to one endpoint, whatever types it wants. */
export async function sendTest(deps: EndpointDeps, integrationId: IntegrationId, endpointId: string) {
  const now = deps.now();
  const type = 'webhook.test';
  const event = {
    event_id: newId('evt'),
    integration_id: integrationId,
    type,
    run_id: null,
    consumer_id: null,
    path: null,
    once_key: null,
    body_json: JSON.stringify({ type, timestamp: iso(now), data: { apiIntegrationId: integrationId, endpointId } }),
    created_at: now,
  } as const;
  const delivery = await deps.store.transact('account', async (tx) => {
    const endpoint = await findEndpoint(tx, integrationId, endpointId);
    const row = newDelivery(endpoint, event, now);
    await tx.run(insertEvent, event);
    await tx.run(insertDelivery, row);
    return row;
  });
  deps.wake();
  return deliveryJson(delivery);
}
