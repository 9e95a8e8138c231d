import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { deliveryById, eventById } from '../store/queries/webhook-deliveries.ts';
import { first } from '../store/store.ts';
import { type EndpointDeps, findEndpoint } from './endpoint-deps.ts';
import { deliveryJson } from './endpoint-json.ts';

/** A delivery with what is posted and what was answered. */
export async function getDelivery(
  { store }: Pick<EndpointDeps, 'store'>,
  integrationId: IntegrationId,
  endpointId: string,
  deliveryId: string,
) {
  await findEndpoint(store.reads, integrationId, endpointId);
  const row = await first(store.reads.all(deliveryById, { endpointId, deliveryId }));
  if (row === undefined) throw new Refusal('delivery_not_found');
  const event = await first(store.reads.all(eventById, { eventId: row.event_id }));
  if (event === undefined) throw new Refusal('delivery_not_found');
  const answer = row.answer_json === null ? null : (JSON.parse(row.answer_json) as string);
  return { ...deliveryJson(row), body: event.body_json, answer };
}
