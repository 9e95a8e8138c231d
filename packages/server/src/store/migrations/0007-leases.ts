import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/** New columns have a default, because servers of the earlier version continue to write rows during the upgrade. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;
  // Written with each heartbeat. 0 if the node has no heartbeats, as in older versions.
  await db.schema
    .alterTable('node_beats')
    .addColumn('seen_at', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable('node_beats')
    .addColumn('draining', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();

  // The nodes that have readers of runs that are cancelled without readers.
  await db.schema
    .createTable('run_readers')
    .addColumn('run_id', text, (c) => c.notNull())
    .addColumn('node_id', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('run_readers_key', ['run_id', 'node_id'])
    .modifyEnd(clustered)
    .execute();

  // The folder's mark in which all nodes store their files.
  await db.schema
    .createTable('blob_folder')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('mark', text, (c) => c.notNull())
    .execute();
}
