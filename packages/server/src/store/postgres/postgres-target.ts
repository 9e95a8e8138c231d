import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { Client } from 'pg';
import { migrate } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { DELETE_COMPACTED_EVENTS, type Row, type Target, type Value } from '../transfer/ports.ts';
import { COPIED_TABLES, UNCOPIED_TABLES } from '../transfer/tables.ts';
import { translate } from './errors.ts';
import { beginLongTransaction, closeLongTransaction, listColumns, toRows } from './long-transaction.ts';
import { prepareDatabase } from './prepare-database.ts';
import type { PostgresSettings } from './settings.ts';
import { storable } from './statements.ts';

/** The lock of Kysely's migrator. A server that starts during the copy waits for it. */
const MIGRATION_LOCK = '3853314791062309107';

/** Writes tables and rows in one transaction. If the copy is interrupted, the database stays empty. */
export class PostgresTarget implements Target {
  readonly #client: Client;
  readonly #migrating: Kysely<Schema>;

  private constructor(client: Client) {
    this.#client = client;
    this.#migrating = new Kysely<Schema>({ dialect: withinTransaction(client) });
  }

  static async open(settings: PostgresSettings): Promise<PostgresTarget> {
    await prepareDatabase(settings, false);
    const client = await beginLongTransaction(settings, 'begin');
    await client.query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    return new PostgresTarget(client);
  }

  async isEmpty(): Promise<boolean> {
    const { rows } = await this.#client.query<{ made: number }>(
      `select count(*) as made from information_schema.tables
       where table_schema = current_schema() and table_name = any($1)`,
      [[...COPIED_TABLES, ...UNCOPIED_TABLES]],
    );
    return rows[0]?.made === 0;
  }

  async migrate(upTo: string | null): Promise<void> {
    await migrate(this.#migrating, 'postgres', { upTo });
    // The migrator has set a limit.
    await this.#client.query('set local lock_timeout = 0');
  }

  columns(table: string): Promise<string[]> {
    return listColumns(this.#client, table);
  }

  storable(row: Row): Row {
    return storable<Value>([...row]);
  }

  async insert(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void> {
    const names = columns.map((name) => this.#client.escapeIdentifier(name)).join(', ');
    const tuples = rows.map((row, r) => `(${row.map((_, c) => `$${r * columns.length + c + 1}`).join(', ')})`);
    const text = `insert into ${this.#client.escapeIdentifier(table)} (${names}) values ${tuples.join(', ')}`;
    try {
      await this.#client.query(text, rows.flat());
    } catch (error) {
      throw translate(error);
    }
  }

  rows(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]> {
    return toRows(this.#client, table, columns);
  }

  async deleteCompactedEvents(): Promise<void> {
    await this.#client.query(DELETE_COMPACTED_EVENTS);
  }

  async commit(): Promise<void> {
    try {
      await this.#client.query('commit');
    } catch (error) {
      throw translate(error);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return closeLongTransaction(this.#client);
  }
}

/** A Kysely dialect over a connection with an open transaction, which it neither begins nor ends. */
function withinTransaction(client: Client): Dialect {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const { rows } = await client.query({ text: sql, values: [...parameters] });
      return { rows: rows as R[] };
    },
    async *streamQuery() {
      yield* [];
      throw new Error('Streaming is not supported: migrations read all rows.');
    },
  };
  const nothing = async () => {};
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => ({
      init: nothing,
      acquireConnection: async () => connection,
      beginTransaction: nothing,
      commitTransaction: nothing,
      rollbackTransaction: nothing,
      releaseConnection: nothing,
      destroy: nothing,
    }),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}
