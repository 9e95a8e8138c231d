import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;
  await db.schema.alterTable('chats').addColumn('title_json', text).execute();
  await db.schema.alterTable('chats').addColumn('metadata_json', text).execute();

  // Adjustments can have fractions of a credit. A node of an earlier version writes none.
  await db.schema
    .alterTable('usage_days')
    .addColumn('credit_millionths', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute();

  await db.schema
    .createTable('adjustments')
    .addColumn('adjustment_id', text, (c) => c.primaryKey())
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('consumer_id', text, (c) => c.notNull())
    .addColumn('idempotency_key_json', text, (c) => c.notNull())
    .addColumn('unit', text, (c) => c.notNull())
    .addColumn('amount_json', text, (c) => c.notNull())
    .addColumn('applied_json', text, (c) => c.notNull())
    .addColumn('reason_json', text)
    .addColumn('period_start', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .modifyEnd(clustered)
    .execute();
  await db.schema
    .createIndex('adjustments_idempotency')
    .on('adjustments')
    .columns(['integration_id', 'consumer_id', 'idempotency_key_json'])
    .unique()
    .execute();
  // For the lists, newest first: all usage records of an integration, and a member's adjustments.
  await db.schema
    .createIndex('adjustments_newest')
    .on('adjustments')
    .columns(['integration_id', 'created_at', 'adjustment_id'])
    .execute();
  await db.schema
    .createIndex('adjustments_consumer')
    .on('adjustments')
    .columns(['integration_id', 'consumer_id', 'created_at', 'adjustment_id'])
    .execute();
}
