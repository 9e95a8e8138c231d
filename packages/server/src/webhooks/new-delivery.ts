import { type IntegrationId, newId, type RunId } from '../domain/ids.ts';
import type { WebhookEventType } from '../domain/webhook.ts';
import type { DeliveryRow } from '../store/queries/webhook-deliveries.ts';

interface Addressee {
  readonly endpoint_id: string;
  readonly url: string | null;
  readonly active: number;
}

interface StoredEvent {
  readonly event_id: string;
  readonly integration_id: IntegrationId;
  readonly type: WebhookEventType;
  readonly run_id: RunId | null;
}

/** A delivery of this event. It is skipped if the endpoint gets nothing at this time. */
export function newDelivery(endpoint: Addressee, event: StoredEvent, now: number): DeliveryRow {
  const isSent = endpoint.active === 1 && endpoint.url !== null;
  return {
    delivery_id: newId('whd'),
    integration_id: event.integration_id,
    endpoint_id: endpoint.endpoint_id,
    event_id: event.event_id,
    type: event.type,
    run_id: event.run_id,
    status: isSent ? 'pending' : 'skipped',
    attempts: 0,
    next_attempt_at: isSent ? now : null,
    claim_id: null,
    last_status: null,
    last_error: null,
    answer_json: null,
    created_at: now,
    delivered_at: null,
    settled_at: isSent ? null : now,
  };
}
