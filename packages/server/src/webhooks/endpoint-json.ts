import { iso } from '../domain/time.ts';
import type { DeliveryRow } from '../store/queries/webhook-deliveries.ts';
import type { EndpointRow } from '../store/queries/webhook-endpoints.ts';

export function endpointJson(row: EndpointRow) {
  return {
    endpointId: row.endpoint_id,
    url: row.url,
    events: row.events.split(','),
    description: row.description_json === null ? null : (JSON.parse(row.description_json) as string),
    active: row.active === 1,
    disabledReason: row.disabled_reason,
    failingSince: iso(row.failing_since),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

/** What the audit log shows of an endpoint. The query of the address can have a secret. */
export function auditedEndpoint(row: EndpointRow) {
  const { url, events, description, active } = endpointJson(row);
  return { url: url === null ? null : url.replace(/[?#].*/s, ''), events, description, active };
}

export function deliveryJson(row: DeliveryRow) {
  return {
    deliveryId: row.delivery_id,
    eventId: row.event_id,
    type: row.type,
    runId: row.run_id,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: iso(row.next_attempt_at),
    lastStatus: row.last_status,
    lastError: row.last_error,
    createdAt: iso(row.created_at),
    deliveredAt: iso(row.delivered_at),
  };
}
