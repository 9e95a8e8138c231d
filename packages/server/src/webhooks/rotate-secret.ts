import type { Audit } from '../audit/audit.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { rotateEndpoint } from '../store/queries/webhook-endpoints.ts';
import { type EndpointDeps, findEndpoint } from './endpoint-deps.ts';
import { endpointJson } from './endpoint-json.ts';

/** Makes a new secret. The secret before it signs too for a day. */
export async function rotateSecret(deps: EndpointDeps, integrationId: IntegrationId, endpointId: string, audit: Audit) {
  const row = await deps.store.transact('account', async (tx) => {
    if ((await tx.run(rotateEndpoint, { integrationId, endpointId, now: deps.now() })) === 0) {
      throw new Refusal('webhook_not_found');
    }
    await audit(tx, { target: ['webhook', endpointId], integrationId });
    return findEndpoint(tx, integrationId, endpointId);
  });
  return { ...endpointJson(row), secret: deps.secrets.show(row) };
}
