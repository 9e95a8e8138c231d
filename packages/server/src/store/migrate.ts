import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import * as first from './migrations/0001-first.ts';
import type { Schema } from './schema.ts';

const MIGRATIONS = { '0001-first': first };

/** Brings the schema up to this program's; one that is newer than the program is left alone and refused. */
export async function migrate(db: Kysely<Schema>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  if (error instanceof Error && /corrupted migrations/.test(error.message)) {
    throw new Error(
      'The database was made by a newer version of Runwire than this one; start that version, or restore a back-up.',
    );
  }
  throw error;
}
