import { type Client, DatabaseError } from 'pg';
import type { BackupSource, Lines, Row } from '../transfer/ports.ts';
import { copyLines } from './copy-lines.ts';
import { beginLongTransaction, closeLongTransaction, listColumns, toRows } from './long-transaction.ts';
import { prepareDatabase } from './prepare-database.ts';
import type { PostgresSettings } from './settings.ts';

const BEGIN = 'begin isolation level repeatable read read only';
const UNDEFINED_TABLE = '42P01';

/** A read-only transaction that sees the state at its begin and blocks no writer. */
export class PostgresSnapshot implements BackupSource, AsyncDisposable {
  readonly kind = 'postgres';
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(settings: PostgresSettings): Promise<PostgresSnapshot> {
    await prepareDatabase(settings, false);
    const client = await beginLongTransaction(settings, BEGIN);
    // Before the snapshot: a partition of events that is dropped after it would be missing in the copy, and the compacted
    // events would not be visible.
    await client.query('lock table event_chunks in access share mode').catch(async (error: unknown) => {
      if (!(error instanceof DatabaseError) || error.code !== UNDEFINED_TABLE) throw error;
      await client.query(`rollback; ${BEGIN}`);
    });
    // The first statement that reads takes the snapshot.
    await client.query('select 1');
    return new PostgresSnapshot(client);
  }

  async migrations(): Promise<string[]> {
    if ((await this.columns('kysely_migration')).length === 0) return [];
    const { rows } = await this.#client.query<{ name: string }>('select name from kysely_migration order by name');
    return rows.map((row) => row.name);
  }

  columns(table: string): Promise<string[]> {
    return listColumns(this.#client, table);
  }

  rows(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]> {
    return toRows(this.#client, table, columns);
  }

  lines(table: string, columns: readonly string[]): AsyncIterable<Lines> {
    return copyLines(this.#client, table, columns);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return closeLongTransaction(this.#client);
  }
}
