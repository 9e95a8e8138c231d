import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { type EndpointRow, endpointById } from '../store/queries/webhook-endpoints.ts';
import { first, type Reads, type Store, type Tx } from '../store/store.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

export interface EndpointDeps {
  readonly store: Store;
  /** Changes what nodes cache of integrations. */
  readonly change: <T>(job: (tx: Tx) => Promise<T>) => Promise<T>;
  readonly secrets: WebhookSecrets;
  readonly allow: FetchAllow;
  readonly now: () => number;
  /** Looks for due deliveries immediately. */
  readonly wake: () => void;
  /** Skips what is pending for an endpoint that gets nothing any more, in batches. */
  readonly skipRest: (endpointId: string) => void;
}

export async function findEndpoint(
  reads: Reads,
  integrationId: IntegrationId,
  endpointId: string,
): Promise<EndpointRow> {
  const row = await first(reads.all(endpointById, { integrationId, endpointId }));
  if (row === undefined) throw new Refusal('webhook_not_found');
  return row;
}
