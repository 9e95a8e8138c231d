import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

interface Compilable<R> {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
  /** Only its type is looked at. */
  execute(): Promise<R[]>;
}

/**
 * A query with named holes. Each store compiles it once for its dialect: built anew each time it costs
 * 13–35 µs more than raw SQL, compiled once 4 µs.
 */
export interface Statement<P, R> {
  readonly name: string;
  build(db: Kysely<Schema>, params: P): Compilable<R>;
}

export function statement<P, R>(
  name: string,
  build: (db: Kysely<Schema>, params: P) => Compilable<R>,
): Statement<P, R> {
  return { name, build };
}

class Hole {
  readonly key: string;
  constructor(key: string) {
    this.key = key;
  }
}

export interface CompiledStatement {
  readonly name: string;
  readonly sql: string;
  /** The arguments in the order of the SQL's own placeholders. */
  bind(params: unknown): unknown[];
}

export function compileStatement<P, R>(db: Kysely<Schema>, source: Statement<P, R>): CompiledStatement {
  const holes = new Proxy({}, { get: (_, key) => new Hole(String(key)) }) as P;
  const { sql, parameters } = source.build(db, holes).compile();
  const plan = parameters.map((value) => (value instanceof Hole ? value.key : { constant: value }));
  return {
    name: source.name,
    sql,
    bind(params) {
      const values = params as Readonly<Record<string, unknown>>;
      const bound = new Array<unknown>(plan.length);
      for (let i = 0; i < plan.length; i += 1) {
        const entry = plan[i];
        bound[i] = typeof entry === 'string' ? values[entry] : entry?.constant;
      }
      return bound;
    },
  };
}
