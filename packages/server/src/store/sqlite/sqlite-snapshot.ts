import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { BATCH_ROWS, type BackupSource, freeLines, type Lines, type Row } from '../transfer/ports.ts';

/**
 * A read transaction on its own connection. In WAL mode it sees the state at its begin. While it is open, the log
 * cannot be reused from its start and grows.
 */
export class SqliteSnapshot implements BackupSource, AsyncDisposable {
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
    return listColumns(this.#database, table);
  }

  rows(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]> {
    return toRows(this.#database, table, columns);
  }

  lines(table: string, columns: readonly string[]): AsyncIterable<Lines> {
    return getLines(this.#database, table, columns);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
  }
}

/** A trigger sets the hour of a chat. On PostgreSQL it is a computed column. */
const COPIED_COLUMNS = "select name from pragma_table_info(?) where name <> 'updated_hour' order by cid";

export function listColumns(database: DatabaseSync, table: string): string[] {
  const rows = database.prepare(COPIED_COLUMNS).all(table);
  return rows.map((row) => String(row.name));
}

/** Reads one row at a time. No other reader uses this connection. */
export async function* toRows(database: DatabaseSync, table: string, columns: readonly string[]) {
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

/**
 * Reads pages of rows, each as one value that SQLite builds. The pages follow the table's key: the row id, or the
 * primary key of a table without row ids.
 */
async function* getLines(database: DatabaseSync, table: string, columns: readonly string[]): AsyncGenerator<Lines> {
  const keys = readKeys(database, table);
  const key = keys.join(', ');
  const marks = keys.map(() => '?').join(', ');
  const after = `(${key}) > (${marks})`;
  const upTo = `(${key}) <= (${marks})`;
  const from = `from ${quoted(table)}`;
  const line = `json_array(${columns.map(quoted).join(', ')})`;
  const lines = `select cast(group_concat(${line}, char(10)) as blob), count(*) ${from}`;
  const prepare = (text: string) => {
    const statement = database.prepare(text);
    statement.setReturnArrays(true);
    return statement;
  };
  const lastKey = (where: string) =>
    prepare(`select ${key} ${from} ${where} order by ${key} limit 1 offset ${BATCH_ROWS - 1}`);
  const first = { lastKey: lastKey(''), page: prepare(`${lines} where ${upTo}`), rest: prepare(lines) };
  const later = {
    lastKey: lastKey(`where ${after}`),
    page: prepare(`${lines} where ${after} and ${upTo}`),
    rest: prepare(`${lines} where ${after}`),
  };
  let read: Key = [];
  for (let statements: PageStatements = first; ; statements = later) {
    const last = statements.lastKey.get(...read) as unknown as Key | undefined;
    const page = last === undefined ? statements.rest.get(...read) : statements.page.get(...read, ...last);
    const [bytes, count] = page as unknown as [Uint8Array | null, number];
    if (bytes !== null) {
      const lines = { bytes, count };
      yield lines;
      freeLines(lines);
    }
    if (last === undefined) return;
    read = last;
  }
}

type Key = SQLOutputValue[];

/** The statements for a page's last key, its rows, and its rows if it is the last page. */
type PageStatements = Readonly<Record<'lastKey' | 'page' | 'rest', StatementSync>>;

function readKeys(database: DatabaseSync, table: string): string[] {
  const [about] = database.prepare(`select wr from pragma_table_list where schema = 'main' and name = ?`).all(table);
  if (about?.wr === 0) return ['rowid'];
  const rows = database.prepare('select name from pragma_table_info(?) where pk > 0 order by pk').all(table);
  return rows.map((row) => quoted(String(row.name)));
}

/** Names come from our own lists and from the database. */
export function quoted(name: string): string {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`\`${name}\` is not the name of a table or column of Runwire.`);
  return `"${name}"`;
}
