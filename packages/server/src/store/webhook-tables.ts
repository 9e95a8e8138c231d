import type { Generated } from 'kysely';
import type { IntegrationId, RunId } from '../domain/ids.ts';
import type { DeliveryStatus, DisabledReason, WebhookEventType } from '../domain/webhook.ts';
import type { StoredPath } from './stored-path.ts';

/** The addresses to which events of an integration are posted. Their secrets are derived and not stored. */
export interface WebhookEndpointsTable {
  endpoint_id: string;
  integration_id: IntegrationId;
  /** Null if nothing is posted. */
  url: string | null;
  /** Types of events with commas between them, or `*`. */
  events: string;
  description_json: string | null;
  active: number;
  disabled_reason: DisabledReason | null;
  /** When the first of the failures in a row was. Null if the last attempt succeeded. */
  failing_since: number | null;
  /** The number of the current secret. The one before signs too for a day after `rotated_at`. */
  secret_number: number;
  rotated_at: number | null;
  created_at: number;
  updated_at: number;
}

/** What happened, written in the transaction of what it reports, if an endpoint wanted it. */
export interface WebhookEventsTable {
  event_id: string;
  integration_id: IntegrationId;
  type: WebhookEventType;
  run_id: RunId | null;
  /** The member that it is about, for an erasure. */
  consumer_id: string | null;
  /** The uploaded file, for an erasure. */
  path: StoredPath | null;
  /** Unique, for events that are sent once. */
  once_key: string | null;
  /** What is posted, byte for byte. */
  body_json: string;
  created_at: number;
}

/** A charge that may have used up the member's allowance, until the loop has checked it. */
export interface WebhookChecksTable {
  /** The run or the adjustment. */
  check_id: string;
  integration_id: IntegrationId;
  consumer_id: string;
  amount_millionths: number;
  /** The member's limit when the charge was stored. */
  limit_amount: number;
}

/** One event on its way to one endpoint. */
export interface WebhookDeliveriesTable {
  delivery_id: string;
  integration_id: IntegrationId;
  endpoint_id: string;
  event_id: string;
  type: WebhookEventType;
  run_id: RunId | null;
  status: DeliveryStatus;
  attempts: Generated<number>;
  /** When a node may claim it. A claim moves this to the claim's end. Null if it is not pending. */
  next_attempt_at: number | null;
  /** The claim of the node that posts it. */
  claim_id: Generated<string | null>;
  last_status: Generated<number | null>;
  last_error: Generated<string | null>;
  answer_json: Generated<string | null>;
  created_at: number;
  delivered_at: Generated<number | null>;
  /** When it stopped being pending, for the sweep. */
  settled_at: number | null;
}
