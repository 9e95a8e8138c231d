import type { Audit } from '../audit/audit.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { deliveryById, eventById, insertDelivery } from '../store/queries/webhook-deliveries.ts';
import { first } from '../store/store.ts';
import { type EndpointDeps, findEndpoint } from './endpoint-deps.ts';
import { deliveryJson } from './endpoint-json.ts';
import { newDelivery } from './new-delivery.ts';

/** Sends the event of a delivery once more, with its id and body. */
export async function redeliver(
  deps: EndpointDeps,
  integrationId: IntegrationId,
  endpointId: string,
  deliveryId: string,
  audit: Audit,
) {
  const delivery = await deps.store.transact('account', async (tx) => {
    const endpoint = await findEndpoint(tx, integrationId, endpointId);
    const before = await first(tx.all(deliveryById, { endpointId, deliveryId }));
    if (before === undefined) throw new Refusal('delivery_not_found');
    const event = await first(tx.all(eventById, { eventId: before.event_id }));
    if (event === undefined) throw new Refusal('delivery_not_found');
    const row = newDelivery(endpoint, event, deps.now());
    await tx.run(insertDelivery, row);
    await audit(tx, { target: ['webhook', endpointId], integrationId, after: { redelivered: deliveryId } });
    return row;
  });
  deps.wake();
  return deliveryJson(delivery);
}
