import type { IntegrationId } from '../domain/ids.ts';
import { decodeCursor, encodeCursor } from '../domain/list-cursor.ts';
import type { DeliveryStatus, WebhookEventType } from '../domain/webhook.ts';
import { isFiltered, lastReadDelivery, listDeliveries as listRows } from '../store/queries/webhook-deliveries.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { first } from '../store/store.ts';
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
  const { reads } = store;
  await findEndpoint(reads, integrationId, endpointId);
  const filter = { endpointId, status, type, fromMs: toMs(from), toMs: toMs(to) };
  const start = { before: decodeCursor(query.cursor), limit: 1 };
  const last = isFiltered(filter) ? await first(reads.query(lastReadDelivery({ ...filter, ...start }))) : undefined;
  const oldest = last === undefined ? null : { createdAt: Number(last.created_at), id: last.delivery_id };
  const page = await readPage(
    reads,
    query,
    (page) => listRows({ ...filter, oldest, ...page }),
    (row) => ({ createdAt: row.created_at, id: row.delivery_id }),
    deliveryJson,
  );
  if (oldest !== null) page.nextCursor ??= encodeCursor(oldest);
  return page;
}
