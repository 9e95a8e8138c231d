import type { Kysely } from 'kysely';

/** A node of an earlier version writes neither column: its runs have one loop, and the order of its steps counts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('steps')
    .addColumn('loop', 'text', (c) => c.notNull().defaultTo(''))
    .execute();
  await db.schema.alterTable('runs').addColumn('agency_version', 'text').execute();
  await db.schema.alterTable('integrations').addColumn('model', 'text').execute();
  await db.schema
    .alterTable('runs')
    .addColumn('structured', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable('steps')
    .addColumn('index_in_loop', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
}
