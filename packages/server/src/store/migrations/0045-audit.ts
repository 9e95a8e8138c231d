import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/** Who changed what. An erasure finds a person's events by the member and the file. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  await db.schema
    .createTable('audit_events')
    .addColumn('event_id', text, (c) => c.notNull().primaryKey())
    .addColumn('owner_id', text, (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addColumn('actor_kind', text, (c) => c.notNull())
    .addColumn('actor_id', text)
    .addColumn('actor_name_json', text)
    .addColumn('operation', text, (c) => c.notNull())
    .addColumn('target_kind', text, (c) => c.notNull())
    .addColumn('target_id', text, (c) => c.notNull())
    .addColumn('changes_json', text)
    .addColumn('request_id', text)
    .addColumn('address', text)
    .addColumn('integration_id', text)
    .addColumn('consumer_id', text)
    .addColumn('path', text)
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(`audit_${name}`).on('audit_events').columns(columns);
  await index('list', ['owner_id', 'at', 'event_id']).execute();
  await index('actor', ['owner_id', 'actor_id', 'at', 'event_id']).execute();
  await index('operation', ['owner_id', 'operation', 'at', 'event_id']).execute();
  await index('target', ['owner_id', 'target_kind', 'target_id', 'at', 'event_id']).execute();
  await index('age', ['at']).execute();
  await index('member', ['integration_id', 'consumer_id']).where(sql<boolean>`consumer_id is not null`).execute();
  await index('path', ['integration_id', 'path']).where(sql<boolean>`path is not null`).execute();
}
