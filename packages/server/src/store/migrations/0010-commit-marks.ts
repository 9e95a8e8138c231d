import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/** The earlier version's servers do not use this table and continue to run. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  await db.schema
    .createTable('commit_marks')
    .addColumn('process', kind === 'postgres' ? sql`text collate "C"` : sql`text`, (c) => c.notNull())
    .addColumn('connection', 'bigint', (c) => c.notNull())
    .addColumn('serial', 'bigint', (c) => c.notNull())
    .addColumn('raised_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('commit_marks_key', ['process', 'connection'])
    .modifyEnd(kind === 'sqlite' ? sql`without rowid` : sql``)
    .execute();
}
