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
}
