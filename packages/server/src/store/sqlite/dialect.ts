import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

/** Kysely over one connection of `node:sqlite`: used to compile statements, to migrate and for occasional queries. */
export function sqliteDialect(database: DatabaseSync): Dialect {
  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const prepared = database.prepare(query.sql);
      const parameters = query.parameters as SQLInputValue[];
      if (prepared.columns().length > 0) return { rows: prepared.all(...parameters) as R[] };
      const { changes } = prepared.run(...parameters);
      return { rows: [], numAffectedRows: BigInt(changes) };
    },
    async *streamQuery() {
      yield* [];
      throw new Error('Streaming is not supported: no statement stays open across an await.');
    },
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: async () => database.exec('begin immediate'),
    commitTransaction: async () => database.exec('commit'),
    rollbackTransaction: async () => database.exec('rollback'),
    releaseConnection: async () => {},
    destroy: async () => {},
  };
  return {
    createDriver: () => driver,
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}
