import type { Audit } from '../audit/audit.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { lockEndpoints } from '../store/queries/webhook-claims.ts';
import { updateEndpoint as updateRow } from '../store/queries/webhook-endpoints.ts';
import { type EndpointDeps, findEndpoint } from './endpoint-deps.ts';
import { auditedEndpoint, endpointJson } from './endpoint-json.ts';
import { type EndpointInput, endpointValues } from './endpoint-values.ts';
import { skipSome } from './skip-pending.ts';

export interface EndpointChange extends EndpointInput {
  readonly active?: boolean;
}

/** Changes an endpoint. If it gets nothing any more, its pending deliveries are skipped. */
export async function updateEndpoint(
  deps: EndpointDeps,
  integrationId: IntegrationId,
  endpointId: string,
  input: EndpointChange,
  audit: Audit,
) {
  const now = deps.now();
  const { endpoint, hasMore } = await deps.change(async (tx) => {
    if (deps.store.kind === 'postgres') await tx.query(lockEndpoints([endpointId]));
    const row = await findEndpoint(tx, integrationId, endpointId);
    const values = endpointValues(input, row, deps.allow);
    const active = Number(input.active ?? row.active === 1);
    const { url, events, description_json: descriptionJson } = values;
    // An endpoint that is used again, or has another address, begins without its failures.
    const isResumed = input.active === true;
    const disabledReason = isResumed ? null : row.disabled_reason;
    const beginsAgain = (isResumed && row.active === 0) || url !== row.url;
    const failingSince = beginsAgain ? null : row.failing_since;
    await tx.run(updateRow, { endpointId, url, events, descriptionJson, active, disabledReason, failingSince, now });
    const hasMore = (active === 0 || url === null) && (await skipSome(tx, endpointId, now));
    const changed = await findEndpoint(tx, integrationId, endpointId);
    const fields = { before: auditedEndpoint(row), after: auditedEndpoint(changed) };
    await audit(tx, { target: ['webhook', endpointId], integrationId, ...fields });
    return { endpoint: endpointJson(changed), hasMore };
  });
  if (hasMore) deps.skipRest(endpointId);
  return endpoint;
}
