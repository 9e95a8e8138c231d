import type { Client } from 'pg';
import type { BackupSource, Lines, Row } from '../transfer/ports.ts';
import { copyLines } from './copy-lines.ts';
import { beginLongTransaction, closeLongTransaction, columnsOf, rowsOf } from './long-transaction.ts';
import { prepareDatabase } from './prepare-database.ts';
import type { PostgresSettings } from './settings.ts';

/** A read-only transaction that sees the state at its begin and blocks no writer. */
export class PostgresSnapshot implements BackupSource, AsyncDisposable {
  readonly kind = 'postgres';
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(settings: PostgresSettings): Promise<PostgresSnapshot> {
    await prepareDatabase(settings, false);
    const client = await beginLongTransaction(settings, 'begin isolation level repeatable read read only');
    // The first statement of the transaction takes the snapshot.
    await client.query('select 1');
    return new PostgresSnapshot(client);
  }

  async migrations(): Promise<string[]> {
    if ((await this.columns('kysely_migration')).length === 0) return [];
    const { rows } = await this.#client.query<{ name: string }>('select name from kysely_migration order by name');
    return rows.map((row) => row.name);
  }

  columns(table: string): Promise<string[]> {
    return columnsOf(this.#client, table);
  }

  rows(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]> {
    return rowsOf(this.#client, table, columns);
  }

  lines(table: string, columns: readonly string[]): AsyncIterable<Lines> {
    return copyLines(this.#client, table, columns);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return closeLongTransaction(this.#client);
  }
}
