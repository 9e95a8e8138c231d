import type { Kysely, RawBuilder } from 'kysely';
import type { Schema } from '../schema.ts';
import type { QueryOf } from '../store.ts';

/** Makes a query from SQL text. It is used if SQL is clearer than the query builder. */
export function raw<R>(db: Kysely<Schema>, query: RawBuilder<R>): QueryOf<R> {
  return {
    compile: () => query.compile(db),
    execute: async () => (await query.execute(db)).rows,
  };
}
