import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/** Endpoints, the events for them, and the deliveries. Installations without endpoints have no row in them. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;

  await db.schema
    .createTable('webhook_endpoints')
    .addColumn('endpoint_id', text, (c) => c.notNull().primaryKey())
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('url', text)
    .addColumn('events', text, (c) => c.notNull())
    .addColumn('description_json', text)
    .addColumn('active', 'integer', (c) => c.notNull())
    .addColumn('disabled_reason', text)
    .addColumn('failing_since', 'bigint')
    .addColumn('secret_number', 'bigint', (c) => c.notNull())
    .addColumn('rotated_at', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('webhook_endpoints_integration')
    .on('webhook_endpoints')
    .columns(['integration_id', 'created_at', 'endpoint_id'])
    .execute();

  await db.schema
    .createTable('webhook_events')
    .addColumn('event_id', text, (c) => c.notNull().primaryKey())
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('type', text, (c) => c.notNull())
    .addColumn('run_id', text)
    .addColumn('consumer_id', text)
    .addColumn('path', text)
    .addColumn('once_key', text, (c) => c.unique())
    .addColumn('body_json', text, (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('webhook_events_integration')
    .on('webhook_events')
    .columns(['integration_id', 'created_at', 'event_id'])
    .execute();
  await db.schema.createIndex('webhook_events_created').on('webhook_events').column('created_at').execute();
  await db.schema
    .createIndex('webhook_events_member')
    .on('webhook_events')
    .columns(['integration_id', 'consumer_id'])
    .where(sql<boolean>`consumer_id is not null`)
    .execute();
  await db.schema
    .createIndex('webhook_events_path')
    .on('webhook_events')
    .columns(['integration_id', 'path'])
    .where(sql<boolean>`path is not null`)
    .execute();

  // Charges of members, until it is checked that they reached the limit.
  await db.schema
    .createTable('webhook_checks')
    .addColumn('check_id', text, (c) => c.notNull().primaryKey())
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('consumer_id', text, (c) => c.notNull())
    .addColumn('amount_millionths', 'bigint', (c) => c.notNull())
    .addColumn('limit_amount', 'bigint', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('webhook_deliveries')
    .addColumn('delivery_id', text, (c) => c.notNull().primaryKey())
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('endpoint_id', text, (c) => c.notNull())
    .addColumn('event_id', text, (c) => c.notNull())
    .addColumn('type', text, (c) => c.notNull())
    .addColumn('run_id', text)
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('next_attempt_at', 'bigint')
    .addColumn('claim_id', text)
    .addColumn('last_status', 'integer')
    .addColumn('last_error', text)
    .addColumn('answer_json', text)
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('delivered_at', 'bigint')
    .addColumn('settled_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('webhook_deliveries_endpoint')
    .on('webhook_deliveries')
    .columns(['endpoint_id', 'created_at', 'delivery_id'])
    .execute();
  await db.schema.createIndex('webhook_deliveries_event').on('webhook_deliveries').column('event_id').execute();
  // The loop walks from endpoint to endpoint in it, so its cost depends on the endpoints with pending deliveries only.
  await db.schema
    .createIndex('webhook_deliveries_pending')
    .on('webhook_deliveries')
    .columns(['endpoint_id', 'next_attempt_at', 'delivery_id'])
    .where(sql<boolean>`status = 'pending'`)
    .execute();
  await db.schema
    .createIndex('webhook_deliveries_settled')
    .on('webhook_deliveries')
    .columns(['settled_at', 'delivery_id'])
    .where(sql<boolean>`settled_at is not null`)
    .execute();
}
