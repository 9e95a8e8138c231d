import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;

  for (const flag of ['caller_instructions', 'auto_register']) {
    await db.schema
      .alterTable('integrations')
      .addColumn(flag, 'integer', (c) => c.notNull().defaultTo(0))
      .execute();
  }
  await db.schema
    .alterTable('integrations')
    .addColumn('compatible_apis', text, (c) => c.notNull().defaultTo('openai,ai-sdk,ag-ui,mcp,agency-swarm'))
    .execute();
  await db.schema.alterTable('runs').addColumn('extras_json', text).execute();

  // Chats that are not listed and are deleted some days after their last run.
  await db.schema
    .alterTable('chats')
    .addColumn('transient', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  // A list would read all of them.
  await db.schema.dropIndex('chats_newest').execute();
  await db.schema
    .createIndex('chats_newest')
    .on('chats')
    .columns(['integration_id', 'created_at', 'chat_key'])
    .where(sql<boolean>`deleted_at is null and transient = 0`)
    .execute();
  await db.schema
    .createTable('transient_chats')
    .addColumn('chat_key', text, (c) => c.notNull().primaryKey())
    .addColumn('due_at', 'bigint', (c) => c.notNull())
    .modifyEnd(kind === 'sqlite' ? sql`without rowid` : sql``)
    .execute();
  await db.schema.createIndex('transient_chats_due').on('transient_chats').columns(['due_at', 'chat_key']).execute();
}
