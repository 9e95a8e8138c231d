import { type Kysely, sql } from 'kysely';
import type { IntegrationId } from '../../domain/ids.ts';
import type { ListPosition } from '../../domain/list-cursor.ts';
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

export type StoredEventRow = RowOf<typeof eventById>;

export interface DeliveryFilter extends Page {
  readonly endpointId: string;
  readonly status?: DeliveryStatus | undefined;
  readonly type?: WebhookEventType | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** The last delivery that the page may read. */
  readonly oldest?: ListPosition | null;
}

export const listDeliveries = (filter: DeliveryFilter) => (db: Kysely<Schema>) => {
  let query = db.selectFrom('webhook_deliveries').selectAll().where('endpoint_id', '=', filter.endpointId);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.type !== undefined) query = query.where('type', '=', filter.type);
  const { fromMs, toMs, before, oldest = null } = filter;
  // With two bounds on one side SQLite may begin at the wider one. A later page's start and its end are the narrower ones.
  if (toMs !== undefined && (before === null || before.createdAt >= toMs)) query = query.where('created_at', '<', toMs);
  if (oldest !== null) {
    query = query.where(sql<boolean>`(created_at, delivery_id) >= (${oldest.createdAt}, ${oldest.id})`);
  } else if (fromMs !== undefined) query = query.where('created_at', '>=', fromMs);
  return getPage(query, filter, 'created_at', 'delivery_id');
};

/** True if a page of the list reads deliveries that it does not show, and at most `READ_PER_PAGE` deliveries. */
export const isFiltered = ({ status, type }: Pick<DeliveryFilter, 'status' | 'type'>): boolean =>
  status !== undefined || type !== undefined;

/** A page ends there even if it is short, and the next page continues: 300 000 deliveries take 440 ms. */
const READ_PER_PAGE = 5000;

/** Finds the last delivery that a page may read. Returns no row if the list has fewer. It reads only an index. */
export const lastReadDelivery = (filter: DeliveryFilter) => (db: Kysely<Schema>) =>
  listDeliveries({ ...filter, status: undefined, type: undefined, limit: 1 })(db)
    .clearSelect()
    .select(['created_at', 'delivery_id'])
    .offset(READ_PER_PAGE - 1);

/** Some stored events of an integration in a period, the oldest first. */
export const eventsBetween =
  (part: { integrationId: IntegrationId; fromMs: number; toMs: number; after: ListPosition | null; limit: number }) =>
  (db: Kysely<Schema>) => {
    const { after } = part;
    const query = db
      .selectFrom('webhook_events')
      .select(['event_id', 'type', 'run_id', 'created_at'])
      .where('integration_id', '=', part.integrationId)
      .where('created_at', '<', part.toMs)
      .where(
        after === null
          ? sql<boolean>`created_at >= ${part.fromMs}`
          : sql<boolean>`(created_at, event_id) > (${after.createdAt}, ${after.id})`,
      );
    return query.orderBy('created_at').orderBy('event_id').limit(part.limit);
  };

/** The delivery that follows `count` pending ones of the endpoint, in the order in which they are posted. */
export const pendingAfter = statement('pending delivery after others', (db, p: { endpointId: string; count: number }) =>
  db
    .selectFrom('webhook_deliveries')
    .select(['next_attempt_at', 'delivery_id'])
    .where('endpoint_id', '=', p.endpointId)
    .where(sql<boolean>`status = 'pending'`)
    .orderBy('next_attempt_at')
    .orderBy('delivery_id')
    .limit(1)
    .offset(p.count),
);

/** Pending deliveries of an endpoint that gets nothing any more. Posts that are under way find their row changed. */
export const skipPending = statement(
  'skip pending deliveries',
  (db, p: { endpointId: string; now: number; beforeAt: number; beforeId: string }) =>
    db
      .updateTable('webhook_deliveries')
      .set({ status: 'skipped', next_attempt_at: null, claim_id: null, settled_at: p.now })
      .where('endpoint_id', '=', p.endpointId)
      .where(sql<boolean>`status = 'pending'`)
      .where(sql<boolean>`(next_attempt_at, delivery_id) < (${p.beforeAt}, ${p.beforeId})`)
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('webhook_endpoints as e')
            .select('e.endpoint_id')
            .where('e.endpoint_id', '=', p.endpointId)
            .where((e) => e.or([e('e.active', '=', 0), e('e.url', 'is', null)])),
        ),
      ),
);
