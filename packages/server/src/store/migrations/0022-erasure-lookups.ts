import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The status of an erasure is kept for 30 days. These indexes find the few that a request or the loop needs. None contains
  // the id of a person: on the embedded store that would be one more copy to delete.
  await db.schema.createIndex('erasures_finished').on('erasures').columns(['finished_at', 'integration_id']).execute();
  await db.schema
    .createIndex('erasures_folder')
    .on('erasures')
    .column('folder_id')
    .where(sql<boolean>`folder_id is not null`)
    .execute();

  // What happened to an integration of an earlier version is unknown.
  await db.schema
    .alterTable('integrations')
    .addColumn('leftovers', 'bigint', (c) => c.notNull().defaultTo(1))
    .execute();
}
