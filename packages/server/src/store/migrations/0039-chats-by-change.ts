import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * For the list of chats by their last change. Each run changes `updated_at` twice. An index of it would make PostgreSQL write all
 * indexes of the table each time (50 µs and 630 bytes of WAL per run in a new chat). The hour changes seldom, so most updates write
 * no index, and the chats of an hour are sorted when they are read. SQLite writes only the indexes of changed columns, so its
 * index has the order (7 µs per run). Nodes of the version before need not know the column.
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
