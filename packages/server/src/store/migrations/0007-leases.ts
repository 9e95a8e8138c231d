import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/** Columns are added with a value for the rows of servers that are older and go on running meanwhile. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;
  // What the others are told with a beat. 0: this node has never beaten, as older versions do not.
  await db.schema
    .alterTable('node_beats')
    .addColumn('seen_at', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable('node_beats')
    .addColumn('draining', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();

  // Which nodes have readers of runs that are cancelled when nobody reads them.
  await db.schema
    .createTable('run_readers')
    .addColumn('run_id', text, (c) => c.notNull())
    .addColumn('node_id', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('run_readers_key', ['run_id', 'node_id'])
    .modifyEnd(clustered)
    .execute();

  // What the folder that all nodes keep their files in is marked with.
  await db.schema
    .createTable('blob_folder')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('mark', text, (c) => c.notNull())
    .execute();
}
