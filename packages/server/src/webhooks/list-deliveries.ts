import type { IntegrationId } from '../domain/ids.ts';
import type { DeliveryStatus, WebhookEventType } from '../domain/webhook.ts';
import { listDeliveries as listRows } from '../store/queries/webhook-deliveries.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { type EndpointDeps, findEndpoint } from './endpoint-deps.ts';
import { deliveryJson } from './endpoint-json.ts';

interface DeliveryQuery extends ListQuery {
  readonly status?: DeliveryStatus;
  readonly type?: WebhookEventType;
  readonly from?: string;
  readonly to?: string;
}

const toMs = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time));

export async function listDeliveries(
  { store }: Pick<EndpointDeps, 'store'>,
  integrationId: IntegrationId,
  endpointId: string,
  { status, type, from, to, ...query }: DeliveryQuery,
) {
  await findEndpoint(store.reads, integrationId, endpointId);
  return readPage(
    store.reads,
    query,
    (page) => listRows({ endpointId, status, type, fromMs: toMs(from), toMs: toMs(to), ...page }),
    (row) => ({ createdAt: row.created_at, id: row.delivery_id }),
    deliveryJson,
  );
}
