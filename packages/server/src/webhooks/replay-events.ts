import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { ALL_EVENTS, type WebhookEventType } from '../domain/webhook.ts';
import { eventsBetween, insertDelivery } from '../store/queries/webhook-deliveries.ts';
import { type EndpointDeps, findEndpoint } from './endpoint-deps.ts';
import { newDelivery } from './new-delivery.ts';

const MAX_EVENTS = 10_000;
/** Deliveries that one transaction makes, so that others do not wait long. */
const BATCH = 500;

interface ReplayInput {
  readonly from: string;
  readonly to: string;
  readonly types?: readonly WebhookEventType[];
}

/** Makes new deliveries of stored events of a period, with their ids and bodies. */
export async function replayEvents(
  deps: EndpointDeps,
  integrationId: IntegrationId,
  endpointId: string,
  { from, to, types }: ReplayInput,
): Promise<{ readonly deliveries: number }> {
  const fromMs = Date.parse(from);
  const toMs = Date.parse(to);
  if (fromMs >= toMs) throw new Refusal('invalid_request', '`from` must be before `to`.');
  const { reads } = deps.store;
  const { events: wanted } = await findEndpoint(reads, integrationId, endpointId);
  const own = wanted === ALL_EVENTS ? null : (wanted.split(',') as WebhookEventType[]);
  const filter = { integrationId, fromMs, toMs, types: types ?? own, limit: MAX_EVENTS + 1 };
  const events = await reads.query(eventsBetween(filter));
  if (events.length > MAX_EVENTS) {
    throw new Refusal('invalid_request', `The period has more than ${MAX_EVENTS} events; choose a shorter one.`);
  }
  for (let begin = 0; begin < events.length; begin += BATCH) {
    const batch = events.slice(begin, begin + BATCH);
    await deps.store.transact('account', async (tx) => {
      const endpoint = await findEndpoint(tx, integrationId, endpointId);
      const now = deps.now();
      const rows = batch.map((event) => newDelivery(endpoint, { ...event, integration_id: integrationId }, now));
      await Promise.all(rows.map((row) => tx.run(insertDelivery, row)));
    });
    deps.wake();
  }
  return { deliveries: events.length };
}
