import type { Audit } from '../audit/audit.ts';
import { type IntegrationId, newId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { ALL_EVENTS } from '../domain/webhook.ts';
import { integrationById } from '../store/queries/accounts.ts';
import { lockIntegrationForFiles } from '../store/queries/locks.ts';
import {
  countEndpoints,
  type EndpointRow,
  insertEndpoint,
  nodeWithoutWebhooks,
} from '../store/queries/webhook-endpoints.ts';
import { first } from '../store/store.ts';
import type { EndpointDeps } from './endpoint-deps.ts';
import { auditedEndpoint, endpointJson } from './endpoint-json.ts';
import { type EndpointInput, endpointValues } from './endpoint-values.ts';

const MAX_ENDPOINTS = 20;
const RETRY_SECONDS = 30;
const OLD_NODE = 'A server of an earlier version is running, which would send no events; try again after the upgrade.';

const EMPTY = { url: null, events: ALL_EVENTS, description_json: null };

/** Makes an endpoint. Its secret is only in this answer. */
export async function createEndpoint(
  deps: EndpointDeps,
  integrationId: IntegrationId,
  input: EndpointInput,
  audit: Audit,
) {
  const now = deps.now();
  const row: EndpointRow = {
    endpoint_id: newId('whe'),
    integration_id: integrationId,
    ...endpointValues(input, EMPTY, deps.allow),
    active: 1,
    disabled_reason: null,
    failing_since: null,
    secret_number: 1,
    rotated_at: null,
    created_at: now,
    updated_at: now,
  };
  await deps.change(async (tx) => {
    // Endpoints of an integration are made one after the other, so the count is exact.
    await tx.all(lockIntegrationForFiles, { integrationId });
    const [integration, endpoints, oldNode] = await Promise.all([
      first(tx.all(integrationById, { integrationId })),
      first(tx.all(countEndpoints, { integrationId })),
      first(tx.all(nodeWithoutWebhooks, {})),
    ]);
    if (integration === undefined) throw new Refusal('integration_not_found');
    if (oldNode !== undefined) throw new Refusal('unavailable', OLD_NODE, {}, RETRY_SECONDS);
    if (Number(endpoints?.count ?? 0) >= MAX_ENDPOINTS) throw new Refusal('too_many_webhooks');
    await tx.run(insertEndpoint, row);
    await audit(tx, { target: ['webhook', row.endpoint_id], integrationId, after: auditedEndpoint(row) });
  });
  return { ...endpointJson(row), secret: deps.secrets.show(row) };
}
