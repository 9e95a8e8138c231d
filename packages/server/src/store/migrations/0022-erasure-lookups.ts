import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // An erasure's status is kept for 30 days. These indexes find the few that a request or the loop needs. None contains
  // a person's id: on the embedded store that would be one more copy to delete. SQLite adds the key of the table to the
  // first one; with a second column of its own it would prefer the key.
  await db.schema.createIndex('erasures_finished').on('erasures').column('finished_at').execute();
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
