import type { Client } from 'pg';
import type { Row, Snapshot } from '../transfer/ports.ts';
import { beginLong, columnsOf, endLong, rowsOf } from './long-transaction.ts';
import { prepareDatabase } from './prepare-database.ts';
import type { PostgresSettings } from './settings.ts';

/** One read-only transaction that sees what was committed when it began, and locks out nobody who writes. */
export class PostgresSnapshot implements Snapshot, AsyncDisposable {
  readonly kind = 'postgres';
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(settings: PostgresSettings): Promise<PostgresSnapshot> {
    await prepareDatabase(settings, false);
    const client = await beginLong(settings, 'begin isolation level repeatable read read only');
    // The first question is the moment.
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

  [Symbol.asyncDispose](): Promise<void> {
    return endLong(this.#client);
  }
}
