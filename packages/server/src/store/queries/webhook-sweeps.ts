import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import { statement } from '../statement.ts';
import type { Person } from './erasures.ts';
import type { FileRange } from './files.ts';
import { raw } from './raw.ts';

const personsEvents = (db: Kysely<Schema>, p: Person) =>
  db
    .selectFrom('webhook_events')
    .select('event_id')
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.consumerId);

const pathEvents = (db: Kysely<Schema>, p: FileRange) =>
  db
    .selectFrom('webhook_events')
    .select('event_id')
    .where('integration_id', '=', p.integrationId)
    .where('path', '>=', p.from)
    .where('path', '<', p.to);

/** An erasure: what is not delivered by now is not sent. */
export const deletePersonsDeliveries = statement(
  'delete webhook deliveries of person',
  (db, p: Person) => db.deleteFrom('webhook_deliveries').where('event_id', 'in', personsEvents(db, p)),
  { overwrites: true },
);

export const deletePersonsEvents = statement(
  'delete webhook events of person',
  (db, p: Person) => db.deleteFrom('webhook_events').where('event_id', 'in', personsEvents(db, p)),
  { overwrites: true },
);

export const deletePathDeliveries = statement(
  'delete webhook deliveries of path',
  (db, p: FileRange) => db.deleteFrom('webhook_deliveries').where('event_id', 'in', pathEvents(db, p)),
  { overwrites: true },
);

export const deletePathEvents = statement(
  'delete webhook events of path',
  (db, p: FileRange) => db.deleteFrom('webhook_events').where('event_id', 'in', pathEvents(db, p)),
  { overwrites: true },
);

/** Deletes delivered deliveries that were settled before `until`. */
export const deleteDelivered = statement('delete delivered webhooks', (db, p: { until: number; limit: number }) =>
  db
    .deleteFrom('webhook_deliveries')
    .where('delivery_id', 'in', (eb) =>
      eb
        .selectFrom('webhook_deliveries')
        .select('delivery_id')
        .where('settled_at', '<', p.until)
        .where('status', '=', sql<'delivered'>`'delivered'`)
        .orderBy('settled_at')
        .limit(p.limit),
    ),
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

/** Deletes events of before `until` that no delivery needs. */
export const deleteUnsentEvents = statement('delete unsent webhook events', (db, p: { until: number; limit: number }) =>
  db.deleteFrom('webhook_events').where('event_id', 'in', (eb) =>
    eb
      .selectFrom('webhook_events')
      .select('event_id')
      .where('created_at', '<', p.until)
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('webhook_deliveries')
              .select('webhook_deliveries.delivery_id')
              .whereRef('webhook_deliveries.event_id', '=', 'webhook_events.event_id'),
          ),
        ),
      )
      .limit(p.limit),
  ),
);

export const anyWebhookRow = statement('any webhook row', (db, _: object) =>
  db.selectFrom('webhook_events').select('event_id').limit(1),
);
