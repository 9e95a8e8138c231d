import type { IntegrationId, OwnerId } from '../domain/ids.ts';
import type { StoredPath } from './stored-path.ts';

/** Who changed what for an owner. */
export interface AuditEventsTable {
  event_id: string;
  owner_id: OwnerId;
  at: number;
  actor_kind: 'person' | 'key' | 'client_token';
  /** Null for `RUNWIRE_API_KEY`. */
  actor_id: string | null;
  actor_name_json: string | null;
  /** The operation's id. */
  operation: string;
  target_kind: string;
  target_id: string;
  /** The changed fields with their values before and after. Null if none is shown, and after an erasure. */
  changes_json: string | null;
  request_id: string | null;
  address: string | null;
  integration_id: IntegrationId | null;
  /** The member whom the event is about, or who sent the request. */
  consumer_id: string | null;
  /** The deleted file or folder. */
  path: StoredPath | null;
}
