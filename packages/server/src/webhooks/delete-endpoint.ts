import type { Audit } from '../audit/audit.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { deleteEndpoint as deleteRow } from '../store/queries/webhook-endpoints.ts';
import type { EndpointDeps } from './endpoint-deps.ts';

/** Deletes an endpoint. Nothing more is posted to it, and the sweep deletes its deliveries. */
export async function deleteEndpoint(
  deps: EndpointDeps,
  integrationId: IntegrationId,
  endpointId: string,
  audit: Audit,
): Promise<void> {
  await deps.change(async (tx) => {
    if ((await tx.run(deleteRow, { integrationId, endpointId })) === 0) throw new Refusal('webhook_not_found');
    await audit(tx, { target: ['webhook', endpointId], integrationId });
  });
}
