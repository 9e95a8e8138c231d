import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  // If `RUNWIRE_SECRET` is not set, the nodes share a secret in the database.
  await db.schema
    .createTable('installation_secret')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('secret', 'text', (c) => c.notNull())
    .execute();
  if (kind === 'postgres') await compareByBytes(db);
}

/**
 * Ids sort by their time of creation if they are compared byte by byte, as SQLite does. The collation of a PostgreSQL
 * database can order letters differently, which would change lists and pages.
 */
async function compareByBytes(db: Kysely<unknown>): Promise<void> {
  const columns = await sql<{ table_name: string; column_name: string }>`
    select c.table_name, c.column_name from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where c.table_schema = current_schema() and c.data_type = 'text' and t.table_type = 'BASE TABLE'
      and c.table_name in ('installation_secret', 'nodes', 'node_beats', 'owners', 'api_keys', 'integrations', 'members',
        'chats', 'messages', 'runs', 'usage_days', 'event_chunks', 'steps', 'blobs', 'attachments')`.execute(db);
  const byTable = Map.groupBy(columns.rows, (row) => row.table_name);
  for (const [table, rows] of byTable) {
    const changes = rows.map(({ column_name }) => sql`alter column ${sql.ref(column_name)} type text collate "C"`);
    await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db);
  }
}
