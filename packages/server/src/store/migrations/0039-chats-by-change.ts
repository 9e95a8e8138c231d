import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * For the chat list by last change. Each run changes `updated_at` twice. If it were indexed, PostgreSQL would write all indexes
 * each time (50 µs and 630 WAL bytes per run in a new chat). The hour changes seldom, so most updates write no index, and a
 * page sorts the chats that changed in the same hour. SQLite writes only indexes whose columns change, so its index has the whole
 * order (7 µs per run). Earlier nodes need not know the column, because the database computes it.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const isPostgres = kind === 'postgres';
  await db.schema
    .alterTable('chats')
    .addColumn('updated_hour', 'bigint', (column) => {
      const hour = column.generatedAlwaysAs(sql`updated_at / 3600000`);
      return isPostgres ? hour.stored() : hour;
    })
    .execute();
  await db.schema
    .createIndex('chats_updated')
    .on('chats')
    .columns(['integration_id', 'updated_hour', ...(isPostgres ? [] : ['updated_at']), 'chat_key'])
    .where(sql<boolean>`deleted_at is null and transient = 0`)
    .execute();
}
