import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { syncFolder } from '@runwire/lib/durable-files.ts';
import { Kysely } from 'kysely';
import { migrate } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { DELETE_COMPACTED_EVENTS, type Row, type Target } from '../transfer/ports.ts';
import { sqliteDialect } from './dialect.ts';
import { listColumns, quoted, toRows } from './sqlite-snapshot.ts';

/** A database's files. SQLite would take such a file of another database for its own. */
const FILES = ['', '-wal', '-shm', '-journal'];

/** Deletes the drafts of processes that were killed. No other process may have one open. */
export function sweepDrafts(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(`${basename(path)}.`) && /\.[0-9a-f]{12}\.part(-wal|-shm|-journal)?$/.test(name)) {
      rmSync(join(dirname(path), name), { force: true });
    }
  }
}

/** Writes a database under a temporary name and renames it when it is complete. */
export class SqliteTarget implements Target {
  readonly #path: string;
  readonly #draft: string;
  readonly #database: DatabaseSync;
  readonly #inserts = new Map<string, StatementSync>();

  constructor(path: string) {
    this.#path = path;
    this.#draft = `${path}.${randomBytes(6).toString('hex')}.part`;
    this.#database = new DatabaseSync(this.#draft);
    this.#database.exec('pragma journal_mode = delete; pragma synchronous = full');
  }

  async isEmpty(): Promise<boolean> {
    return !FILES.some((suffix) => existsSync(this.#path + suffix));
  }

  async migrate(upTo: string | null): Promise<void> {
    this.#commitRows();
    await migrate(new Kysely<Schema>({ dialect: sqliteDialect(this.#database) }), 'sqlite', { upTo });
  }

  async columns(table: string): Promise<string[]> {
    return listColumns(this.#database, table);
  }

  storable(row: Row): Row {
    return row;
  }

  async insert(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void> {
    if (!this.#database.isTransaction) this.#database.exec('begin');
    const names = columns.map(quoted).join(', ');
    const text = `insert into ${quoted(table)} (${names}) values (${columns.map(() => '?').join(', ')})`;
    let statement = this.#inserts.get(text);
    if (statement === undefined) {
      statement = this.#database.prepare(text);
      this.#inserts.set(text, statement);
    }
    for (const row of rows) statement.run(...(row as SQLInputValue[]));
  }

  rows(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]> {
    return toRows(this.#database, table, columns);
  }

  async deleteCompactedEvents(): Promise<void> {
    this.#database.exec(DELETE_COMPACTED_EVENTS);
  }

  #commitRows(): void {
    if (this.#database.isTransaction) this.#database.exec('commit');
  }

  async commit(): Promise<void> {
    this.#commitRows();
    this.#database.close();
    await rename(this.#draft, this.#path);
    await syncFolder(dirname(this.#path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
    for (const suffix of FILES) rmSync(this.#draft + suffix, { force: true });
  }
}
