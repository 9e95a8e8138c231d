import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import { statement } from '../statement.ts';
import type { Person } from './erasures.ts';
import type { FileRange } from './files.ts';
import { raw } from './raw.ts';

type EventFilter = (eb: ExpressionBuilder<Schema, 'webhook_events'>) => Expression<SqlBool>;

/** Deletes some events' deliveries. */
const deleteDeliveriesWhere = (db: Kysely<Schema>, filter: EventFilter, limit: number) =>
  db
    .deleteFrom('webhook_deliveries')
    .where('event_id', 'in', db.selectFrom('webhook_events').select('event_id').where(filter).limit(limit));

/** Deletes some events that have no deliveries. */
const deleteEventsWhere = (db: Kysely<Schema>, filter: EventFilter, limit: number) =>
  db
    .deleteFrom('webhook_events')
    .where(
      'event_id',
      'in',
      db.selectFrom('webhook_events').select('event_id').where(filter).where(hasNoDelivery).limit(limit),
    );

const hasNoDelivery = sql<boolean>`not exists (select 1 from webhook_deliveries d where d.event_id = webhook_events.event_id)`;

const isOfPerson =
  ({ integrationId, consumerId }: Person): EventFilter =>
  (eb) =>
    eb.and([eb('integration_id', '=', integrationId), eb('consumer_id', '=', consumerId)]);

const isBelow =
  ({ integrationId, from, to }: FileRange): EventFilter =>
  (eb) =>
    eb.and([eb('integration_id', '=', integrationId), eb('path', '>=', from), eb('path', '<', to)]);

/** How many events one statement takes, each with all its deliveries. */
interface Portion {
  readonly limit: number;
}

/** An erasure: what is not delivered by now is not sent. */
export const deletePersonsDeliveries = statement(
  'delete webhook deliveries of person',
  (db, p: Person & Portion) => deleteDeliveriesWhere(db, isOfPerson(p), p.limit),
  { overwrites: true },
);

export const deletePersonsEvents = statement(
  'delete webhook events of person',
  (db, p: Person & Portion) => deleteEventsWhere(db, isOfPerson(p), p.limit),
  { overwrites: true },
);

export const deletePathDeliveries = statement(
  'delete webhook deliveries of path',
  (db, p: FileRange & Portion) => deleteDeliveriesWhere(db, isBelow(p), p.limit),
  { overwrites: true },
);

export const deletePathEvents = statement(
  'delete webhook events of path',
  (db, p: FileRange & Portion) => deleteEventsWhere(db, isBelow(p), p.limit),
  { overwrites: true },
);

/** Settled deliveries after one position and up to another. */
export interface SettledPart {
  readonly afterAt: number;
  readonly afterId: string;
  readonly endAt: number;
  readonly endId: string;
}

/** Skips so many deliveries after a position that were settled before `until`. No row if there are fewer. */
export const endOfSettledPart = statement(
  'end of part of settled webhooks',
  (db, p: { afterAt: number; afterId: string; until: number; rows: number }) =>
    db
      .selectFrom('webhook_deliveries')
      .select(['settled_at', 'delivery_id'])
      .where('settled_at', 'is not', null)
      .where(sql<boolean>`(settled_at, delivery_id) > (${p.afterAt}, ${p.afterId})`)
      .where('settled_at', '<', p.until)
      .orderBy('settled_at')
      .orderBy('delivery_id')
      .offset(sql<number>`${p.rows} - 1`)
      .limit(1),
);

const isDeliveredIn = (p: SettledPart) => sql<boolean>`settled_at is not null
  and (settled_at, delivery_id) > (${p.afterAt}, ${p.afterId}) and (settled_at, delivery_id) <= (${p.endAt}, ${p.endId})
  and status = 'delivered'`;

export const anyDeliveredIn = statement('any delivered webhook', (db, p: SettledPart) =>
  db.selectFrom('webhook_deliveries').select('delivery_id').where(isDeliveredIn(p)).limit(1),
);

export const deleteDeliveredIn = statement('delete delivered webhooks', (db, p: SettledPart) =>
  db.deleteFrom('webhook_deliveries').where(isDeliveredIn(p)),
);

/** Deletes all deliveries that were settled before `until`. */
export const deleteSettled = statement('delete settled webhooks', (db, p: { until: number; limit: number }) =>
  db
    .deleteFrom('webhook_deliveries')
    .where('delivery_id', 'in', (eb) =>
      eb
        .selectFrom('webhook_deliveries')
        .select('delivery_id')
        .where('settled_at', '<', p.until)
        .orderBy('settled_at')
        .limit(p.limit),
    ),
);

/** Endpoints that were deleted and have deliveries. The walk reads one index entry for each endpoint. */
export const deletedEndpoints = statement('deleted webhook endpoints', (db, _: object) =>
  raw<{ endpoint_id: string }>(
    db,
    sql<{ endpoint_id: string }>`
      with recursive walk(endpoint_id) as (
        select min(endpoint_id) from webhook_deliveries
        union all
        select (select min(d.endpoint_id) from webhook_deliveries d where d.endpoint_id > walk.endpoint_id)
        from walk where walk.endpoint_id is not null
      )
      select w.endpoint_id from walk w where w.endpoint_id is not null
        and not exists (select 1 from webhook_endpoints e where e.endpoint_id = w.endpoint_id)`,
  ),
);

export const deleteDeliveriesTo = statement(
  'delete webhook deliveries to endpoint',
  (db, p: { endpointId: string; limit: number }) =>
    db
      .deleteFrom('webhook_deliveries')
      .where('delivery_id', 'in', (eb) =>
        eb
          .selectFrom('webhook_deliveries')
          .select('delivery_id')
          .where('endpoint_id', '=', p.endpointId)
          .limit(p.limit),
      ),
);

/** Skips so many events between two times. No row if there are fewer. */
export const endOfEventPart = statement(
  'end of part of webhook events',
  (db, p: { afterAt: number; until: number; rows: number }) =>
    db
      .selectFrom('webhook_events')
      .select('created_at')
      .where('created_at', '>', p.afterAt)
      .where('created_at', '<', p.until)
      .orderBy('created_at')
      .offset(sql<number>`${p.rows} - 1`)
      .limit(1),
);

/** Events after one time and until another. */
interface EventPart {
  readonly afterAt: number;
  readonly endAt: number;
}

const isUnsentIn = (p: EventPart) => sql<boolean>`created_at > ${p.afterAt} and created_at <= ${p.endAt}
  and not exists (select 1 from webhook_deliveries d where d.event_id = webhook_events.event_id)`;

/** An event that no delivery needs. */
export const anyUnsentIn = statement('any unsent webhook event', (db, p: EventPart) =>
  db.selectFrom('webhook_events').select('event_id').where(isUnsentIn(p)).limit(1),
);

export const deleteUnsentIn = statement('delete unsent webhook events', (db, p: EventPart) =>
  db.deleteFrom('webhook_events').where(isUnsentIn(p)),
);

export const anyWebhookRow = statement('any webhook row', (db, _: object) =>
  db.selectFrom('webhook_events').select('event_id').limit(1),
);
