import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { QueryConfig } from 'pg';
import { NODE_ALIVE, type Schema } from '../schema.ts';
import { CompiledStatements, type Statement } from '../statement.ts';
import type { QueryOf } from '../store.ts';
import type { CommitMark } from './commit-marks.ts';

/** Compiles queries for PostgreSQL and executes none. */
const compiler = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

const compiledStatements = new CompiledStatements();

/** The queries of statements. A connection prepares a statement by its name when it first uses it. */
export class Statements {
  readonly #named: boolean;

  /** `named` is false if a pooler gives each transaction another connection. */
  constructor(named: boolean) {
    this.#named = named;
  }

  /** Writes the mark of the current transaction and returns the transaction's id. */
  mark({ process, connection, serial }: CommitMark): QueryConfig {
    const text =
      'insert into commit_marks (process, connection, serial, raised_at) values ($1, $2, $3, $4) ' +
      'on conflict (process, connection) do update set serial = excluded.serial, raised_at = excluded.raised_at ' +
      'returning pg_current_xact_id()::text as xid';
    const values = [process, connection, serial, Date.now()];
    return this.#named ? { name: 'mark', text, values } : { text, values };
  }

  /** Locks the row of a living node. Returns no row if the node is dead or was never registered. */
  fence(nodeId: string): QueryConfig {
    const text = `select 1 from nodes where node_id = $1 and dead = ${NODE_ALIVE} for share`;
    return this.#named ? { name: 'fence', text, values: [nodeId] } : { text, values: [nodeId] };
  }

  bound<P, R>(statement: Statement<P, R>, params: P): QueryConfig {
    const compiled = compiledStatements.get(compiler, statement);
    const values = storable(compiled.bind(params));
    return this.#named ? { name: compiled.name, text: compiled.sql, values } : { text: compiled.sql, values };
  }

  built<R>(build: (db: Kysely<Schema>) => QueryOf<R>): QueryConfig {
    const { sql, parameters } = build(compiler).compile();
    return { text: sql, values: storable([...parameters]) };
  }
}

/**
 * Replaces U+0000, which PostgreSQL's text cannot store. Texts of users are stored as JSON text, which never contains
 * it. Only ids that a caller looks up and ids of a model can contain it. It becomes U+0001, which no caller's id may
 * contain, so a lookup never finds a wrong row.
 */
export function storable<T>(values: T[]): T[] {
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (typeof value === 'string' && value.includes('\0')) values[i] = value.replaceAll('\0', '\u0001') as T;
  }
  return values;
}
