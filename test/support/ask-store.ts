import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { askDatabase, storeEnvironment } from '@runwire/test-kit';

/** One statement to the store of this data folder, beside its servers: for what no operation shows. */
export async function askStore(dataDir: string, statement: string): Promise<Record<string, unknown>[]> {
  const { DATABASE_URL } = await storeEnvironment(dataDir);
  if (DATABASE_URL !== undefined) return askDatabase(DATABASE_URL, statement);
  const database = new DatabaseSync(join(dataDir, 'runwire.db'));
  try {
    return database.prepare(statement).all();
  } finally {
    database.close();
  }
}
