import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  await db.schema.alterTable('chats').addColumn('questions_json', text).execute();
  await db.schema.alterTable('runs').addColumn('continues', text).execute();
  await db.schema.alterTable('runs').addColumn('answers_json', text).execute();
  await db.schema.alterTable('runs').addColumn('client_tools_json', text).execute();
  await db.schema
    .alterTable('integrations')
    .addColumn('client_tools', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
}
