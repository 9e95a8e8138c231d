import { DatabaseSync } from 'node:sqlite';
import { BATCH_ROWS, type Row, type Snapshot } from '../transfer/ports.ts';

/**
 * A read transaction on its own connection. In WAL mode it sees the state at its begin. While it is open, the log
 * cannot be reused from its start and grows.
 */
export class SqliteSnapshot implements Snapshot, AsyncDisposable {
  readonly kind = 'sqlite';
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
    // The first read takes the snapshot.
    this.#database.exec('begin; select count(*) from sqlite_master');
  }

  async migrations(): Promise<string[]> {
    if ((await this.columns('kysely_migration')).length === 0) return [];
    const rows = this.#database.prepare('select name from kysely_migration order by name').all();
    return rows.map((row) => String(row.name));
  }

  async columns(table: string): Promise<string[]> {
    return columnsOf(this.#database, table);
  }

  rows(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]> {
    return rowsOf(this.#database, table, columns);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
  }
}

export function columnsOf(database: DatabaseSync, table: string): string[] {
  const rows = database.prepare('select name from pragma_table_info(?) order by cid').all(table);
  return rows.map((row) => String(row.name));
}

/** Reads one row at a time. No other reader uses this connection. */
export async function* rowsOf(database: DatabaseSync, table: string, columns: readonly string[]) {
  const statement = database.prepare(`select ${columns.map(quoted).join(', ')} from ${quoted(table)}`);
  statement.setReturnArrays(true);
  let batch: Row[] = [];
  for (const row of statement.iterate()) {
    batch.push(row as unknown as Row);
    if (batch.length === BATCH_ROWS) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Names come from our own lists and from the database. */
export function quoted(name: string): string {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`\`${name}\` is not the name of a table or column of Runwire.`);
  return `"${name}"`;
}
