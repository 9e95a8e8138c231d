import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { testStore } from '@runwire/server/testing';
import { askStore } from '../../test/support/ask-store.ts';

/** What changes by itself, or by the clock: nodes beat, and keys are used. */
const OWN_LIFE = /^(nodes|node_beats|api_keys|installation|kysely_.*|sqlite_.*)$/;
/** The embedded store's own files: its rows are compared instead. */
const DATABASE = /^(runwire\.db|lock\.db)/;

const LIST =
  testStore === 'sqlite'
    ? "select name from sqlite_master where type = 'table'"
    : "select tablename as name from pg_tables where schemaname = 'public'";

/** Every row, every file with its bytes, every folder and every link of an installation, as lines that can be compared. */
export async function storedState(dataDir: string): Promise<string[]> {
  const tables = (await askStore(dataDir, LIST)).map(({ name }) => String(name)).filter((name) => !OWN_LIFE.test(name));
  const lines: string[] = [];
  for (const table of tables) {
    for (const row of await askStore(dataDir, `select * from ${table}`)) lines.push(`${table} ${JSON.stringify(row)}`);
  }
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const shown = relative(dataDir, path);
    if (DATABASE.test(shown)) continue;
    lines.push(`file ${shown} ${entry.isFile() ? hash('sha256', readFileSync(path)) : ''}`);
  }
  return lines.sort();
}
