import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * Compacted chunks get their own table, and the sweep that compacts a stored position. Before, an index contained the runs
 * that waited for the sweep: the end of every run wrote it, and PostgreSQL could not update the row of the run in place.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  await db.schema
    .createTable('compacted_chunks')
    .addColumn('run_id', text, (c) => c.notNull())
    .addColumn('first_id', 'bigint', (c) => c.notNull())
    .addColumn('last_id', 'bigint', (c) => c.notNull())
    .addColumn('data', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('compacted_chunks_key', ['run_id', 'first_id'])
    .execute();
  await db.schema
    .createTable('sweep_positions')
    .addColumn('name', text, (c) => c.primaryKey().notNull())
    .addColumn('position', text, (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('skipped_runs')
    .addColumn('run_id', text, (c) => c.primaryKey().notNull())
    .execute();
  if (kind === 'sqlite') await db.schema.dropIndex('runs_to_compact').execute();
}
