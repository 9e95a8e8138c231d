import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { askDatabase, storeEnvironment } from '@runwire/test-kit';

/** What changes by itself, or by the clock: nodes beat, and keys are used. */
const OWN_LIFE = /^(nodes|node_beats|commit_marks|api_keys|installation|kysely_.*|sqlite_.*)$/;
/** The embedded store's own files: its rows are compared instead. */
const DATABASE = /^(runwire\.db|lock\.db)/;

/** Every row, every file with its bytes, every folder and every link of an installation, as lines that can be compared. */
export async function storedState(dataDir: string): Promise<string[]> {
  const { DATABASE_URL } = await storeEnvironment(dataDir);
  const rows = DATABASE_URL === undefined ? embeddedRows(dataDir) : await databaseRows(DATABASE_URL);
  const lines = [...rows];
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const shown = relative(dataDir, path);
    if (DATABASE.test(shown)) continue;
    lines.push(`file ${shown} ${entry.isFile() ? hash('sha256', readFileSync(path)) : ''}`);
  }
  return lines.sort();
}

function embeddedRows(dataDir: string): string[] {
  const database = new DatabaseSync(join(dataDir, 'runwire.db'), { readOnly: true });
  try {
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
    return compared(tables).flatMap((table) =>
      database
        .prepare(`select * from ${table}`)
        .all()
        .map((row) => `${table} ${JSON.stringify(row)}`),
    );
  } finally {
    database.close();
  }
}

async function databaseRows(url: string): Promise<string[]> {
  const tables = await askDatabase(url, "select tablename as name from pg_tables where schemaname = 'public'");
  const each = compared(tables).map((table) => `select '${table} ' || row_to_json(t)::text as line from ${table} t`);
  return (await askDatabase(url, each.join(' union all '))).map(({ line }) => String(line));
}

function compared(tables: readonly Record<string, unknown>[]): string[] {
  return tables.map(({ name }) => String(name)).filter((name) => !OWN_LIFE.test(name));
}
