import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { askDatabase, storeEnvironment } from '@runwire/test-kit';

/** Runs one statement on this data folder's store beside its servers, for data that no operation returns. */
export async function askStore(dataDir: string, statement: string): Promise<Record<string, unknown>[]> {
  const { DATABASE_URL } = await storeEnvironment(dataDir);
  if (DATABASE_URL !== undefined) return askDatabase(DATABASE_URL, statement);
  // A server writes concurrently.
  const database = new DatabaseSync(join(dataDir, 'runwire.db'), { timeout: 5000 });
  try {
    return database.prepare(statement).all();
  } finally {
    database.close();
  }
}

/** Tables that change by themselves: heartbeats, the last use of a key, and the index of words. */
const OWN_LIFE = /^(nodes|search_.*|node_beats|commit_marks|api_keys|installation|kysely_.*|sqlite_.*)$/;

/** Returns every row, file, folder and link of the installation. */
export async function storedState(dataDir: string): Promise<Set<string>> {
  const isEmbedded = (await storeEnvironment(dataDir)).DATABASE_URL === undefined;
  const catalogue = isEmbedded
    ? "select name from sqlite_master where type = 'table'"
    : "select tablename as name from pg_tables where schemaname = 'public'";
  const state = new Set<string>();
  for (const { name } of await askStore(dataDir, catalogue)) {
    if (OWN_LIFE.test(String(name))) continue;
    for (const row of await askStore(dataDir, `select * from ${name}`)) state.add(`${name} ${JSON.stringify(row)}`);
  }
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!/\/(runwire|lock)\.db/.test(path))
      state.add(`${path} ${entry.isFile() ? hash('sha256', readFileSync(path)) : ''}`);
  }
  return state;
}
