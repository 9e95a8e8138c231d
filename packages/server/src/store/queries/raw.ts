import type { Kysely, RawBuilder } from 'kysely';
import type { Schema } from '../schema.ts';
import type { QueryOf } from '../store.ts';

/** A query written as SQL: where a join or a case is clearer so than through the builder. */
export function raw<R>(db: Kysely<Schema>, query: RawBuilder<R>): QueryOf<R> {
  return {
    compile: () => query.compile(db),
    execute: async () => (await query.execute(db)).rows,
  };
}
