import { type Kysely, sql } from 'kysely';
import type { IntegrationId } from '../../domain/ids.ts';
import type { DeliveryStatus, WebhookEventType } from '../../domain/webhook.ts';
import type { Schema } from '../schema.ts';
import { insertInto, type RowOf, statement } from '../statement.ts';
import { getPage, type Page } from './page.ts';

/** Changes no row if an event with the same `once_key` is stored. */
export const insertEvent = insertInto(
  'webhook_events',
  ['event_id', 'integration_id', 'type', 'run_id', 'consumer_id', 'path', 'once_key', 'body_json', 'created_at'],
  { unlessExists: ['once_key'] },
);

export const insertDelivery = insertInto('webhook_deliveries', [
  'delivery_id',
  'integration_id',
  'endpoint_id',
  'event_id',
  'type',
  'run_id',
  'status',
  'next_attempt_at',
  'created_at',
  'settled_at',
]);

export const deliveryById = statement('webhook delivery', (db, p: { endpointId: string; deliveryId: string }) =>
  db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('delivery_id', '=', p.deliveryId)
    .where('endpoint_id', '=', p.endpointId),
);

export type DeliveryRow = RowOf<typeof deliveryById>;

export const eventById = statement('webhook event', (db, p: { eventId: string }) =>
  db.selectFrom('webhook_events').selectAll().where('event_id', '=', p.eventId),
);

export interface DeliveryFilter extends Page {
  readonly endpointId: string;
  readonly status?: DeliveryStatus | undefined;
  readonly type?: WebhookEventType | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export const listDeliveries = (filter: DeliveryFilter) => (db: Kysely<Schema>) => {
  let query = db.selectFrom('webhook_deliveries').selectAll().where('endpoint_id', '=', filter.endpointId);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.type !== undefined) query = query.where('type', '=', filter.type);
  if (filter.fromMs !== undefined) query = query.where('created_at', '>=', filter.fromMs);
  if (filter.toMs !== undefined) query = query.where('created_at', '<', filter.toMs);
  return getPage(query, filter, 'created_at', 'delivery_id');
};

/** The newest stored events of an integration in a period. */
export const eventsBetween =
  (filter: {
    integrationId: IntegrationId;
    fromMs: number;
    toMs: number;
    types: readonly WebhookEventType[] | null;
    limit: number;
  }) =>
  (db: Kysely<Schema>) => {
    const query = db
      .selectFrom('webhook_events')
      .select(['event_id', 'type', 'run_id'])
      .where('integration_id', '=', filter.integrationId)
      .where('created_at', '>=', filter.fromMs)
      .where('created_at', '<', filter.toMs);
    const chosen = filter.types === null ? query : query.where('type', 'in', [...filter.types]);
    return chosen.orderBy('created_at').orderBy('event_id').limit(filter.limit);
  };

/** Some deliveries of an endpoint that gets nothing any more. Posts that are under way find their row changed. */
export const skipPending = statement(
  'skip pending deliveries',
  (db, p: { endpointId: string; now: number; limit: number }) =>
    db
      .updateTable('webhook_deliveries')
      .set({ status: 'skipped', next_attempt_at: null, claim_id: null, settled_at: p.now })
      .where('delivery_id', 'in', (eb) =>
        eb
          .selectFrom('webhook_deliveries as d')
          .innerJoin('webhook_endpoints as e', 'e.endpoint_id', 'd.endpoint_id')
          .select('d.delivery_id')
          .where('d.endpoint_id', '=', p.endpointId)
          .where(sql<boolean>`d.status = 'pending'`)
          .where((e) => e.or([e('e.active', '=', 0), e('e.url', 'is', null)]))
          .orderBy('d.next_attempt_at')
          .limit(p.limit),
      )
      .where(sql<boolean>`status = 'pending'`),
);
