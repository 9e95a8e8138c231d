import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;

  await db.schema
    .createTable('passwords')
    .addColumn('owner_id', text, (c) => c.primaryKey())
    .addColumn('password_hash', text, (c) => c.notNull())
    .addColumn('changed_at', 'bigint', (c) => c.notNull())
    .modifyEnd(clustered)
    .execute();

  await db.schema
    .createTable('sessions')
    .addColumn('session_id', text, (c) => c.primaryKey())
    .addColumn('owner_id', text, (c) => c.notNull())
    .addColumn('secret_hash', text, (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('used_at', 'bigint', (c) => c.notNull())
    .modifyEnd(clustered)
    .execute();
  await db.schema.createIndex('sessions_secret').on('sessions').column('secret_hash').unique().execute();
  await db.schema.createIndex('sessions_owner').on('sessions').columns(['owner_id', 'session_id']).execute();

  await db.schema
    .createTable('set_up_links')
    .addColumn('owner_id', text, (c) => c.primaryKey())
    .addColumn('secret_hash', text, (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint')
    .modifyEnd(clustered)
    .execute();
  await db.schema.createIndex('set_up_links_secret').on('set_up_links').column('secret_hash').unique().execute();

  await db.schema
    .createTable('sign_in_failures')
    .addColumn('failure_id', text, (c) => c.primaryKey())
    .addColumn('subject', text, (c) => c.notNull())
    .addColumn('failed_at', 'bigint', (c) => c.notNull())
    .modifyEnd(clustered)
    .execute();
  await db.schema
    .createIndex('sign_in_failures_subject')
    .on('sign_in_failures')
    .columns(['subject', 'failed_at'])
    .execute();
}
