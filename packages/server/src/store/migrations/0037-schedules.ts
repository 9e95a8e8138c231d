import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/** Schedules and what happened at their ticks. Both tables stay empty until a schedule is created. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;

  await db.schema
    .createTable('schedules')
    .addColumn('schedule_id', text, (c) => c.notNull().primaryKey())
    .addColumn('integration_id', text, (c) => c.notNull())
    .addColumn('name_json', text, (c) => c.notNull())
    .addColumn('cron', text)
    .addColumn('every_seconds', 'bigint')
    .addColumn('at', 'bigint')
    .addColumn('timezone', text, (c) => c.notNull())
    .addColumn('request_json', text, (c) => c.notNull())
    .addColumn('consumer_id', text)
    .addColumn('catch_up', text, (c) => c.notNull())
    .addColumn('active', 'bigint', (c) => c.notNull())
    .addColumn('paused_reason', text)
    .addColumn('last_tick_at', 'bigint', (c) => c.notNull())
    .addColumn('next_tick_at', 'bigint')
    .addColumn('due_at', 'bigint')
    .addColumn('tries', 'bigint', (c) => c.notNull())
    .addColumn('retry_code', text)
    .addColumn('failures', 'bigint', (c) => c.notNull())
    .addColumn('uncounted_runs_json', text, (c) => c.notNull())
    .addColumn('claimed_by', text)
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('schedules_list')
    .on('schedules')
    .columns(['integration_id', 'created_at', 'schedule_id'])
    .execute();
  await db.schema
    .createIndex('schedules_due')
    .on('schedules')
    .column('due_at')
    .where(sql<boolean>`due_at is not null`)
    .execute();
  await db.schema
    .createIndex('schedules_consumer')
    .on('schedules')
    .columns(['integration_id', 'consumer_id'])
    .where(sql<boolean>`consumer_id is not null`)
    .execute();

  await db.schema
    .createTable('schedule_ticks')
    .addColumn('schedule_id', text, (c) => c.notNull())
    .addColumn('tick_at', 'bigint', (c) => c.notNull())
    .addColumn('run_id', text)
    .addColumn('code', text)
    .addColumn('error_json', text)
    .addColumn('recorded_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('schedule_ticks_key', ['schedule_id', 'tick_at'])
    .modifyEnd(clustered)
    .execute();
  await db.schema.createIndex('schedule_ticks_recorded').on('schedule_ticks').column('recorded_at').execute();
}
