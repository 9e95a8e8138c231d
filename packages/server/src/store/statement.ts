import type { Insertable, Kysely, RawBuilder } from 'kysely';
import type { Schema } from './schema.ts';

interface Compilable<R> {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
  /** Used only for its type. */
  execute(): Promise<R[]>;
}

/**
 * A query with named parameters. It is compiled once for each dialect: a compiled query costs 4 µs more than raw
 * SQL, a query that is built each time 13–35 µs more.
 */
export interface Statement<P, R> {
  readonly name: string;
  build(db: Kysely<Schema>, params: P): Compilable<R>;
  /**
   * True for a lock on rows. A store with one writer needs no locks, so it skips the statement and returns no rows. A
   * lock is a separate statement before the statement that reads the facts: a statement that waited for a lock still
   * sees the snapshot from before the wait.
   */
  readonly locks?: true;
  /**
   * Marks a write to rows that many transactions share. If several transactions commit together, these writes run after
   * all others, in the order of the returned key. The number of changed rows is not known.
   */
  readonly last?: (params: P) => string;
  /**
   * For statements with `last`: if several transactions that commit together run it with the same key, it runs once with the
   * combined parameters. The transactions do not see what it writes.
   */
  combine?(one: P, other: P): unknown;
  /**
   * True if the bytes of the rows that it deletes or changes are overwritten. The embedded store does so only for these
   * statements; PostgreSQL does so when it vacuums.
   */
  readonly overwrites?: true;
  /** Set if several calls of the statement can be sent as one. */
  readonly gathers?: Gathering<P>;
}

/**
 * How calls of a statement that a transaction issues together become one statement. A store without round trips ignores
 * it and runs each call alone. The number of changed rows is then known for updates and deletes only: a gathered insert
 * reports one row for each call.
 */
export interface Gathering<P> {
  /** What is issued together is sent in this order; the order in which its rows are locked. */
  readonly order: number;
  /** The types of the parameters that are not text. */
  readonly types: Readonly<Record<string, 'bigint'>>;
  /**
   * The row that a call changes. Calls for the same row, also of different statements, are sent one after the other,
   * because a statement changes a row only once. A statement's rows are locked in their keys' order.
   */
  readonly key?: (params: P) => string;
  /**
   * Set if the statement reads what other statements of the same turn write. Statements that are sent as one do not see the
   * writes of each other.
   */
  readonly reads?: {
    readonly table: string;
    readonly columns: readonly string[];
    readonly writtenBy: readonly Statement<never, unknown>[];
  };
}

/** Every parameter that is a number, with its type. All numbers of the schema are 64-bit integers. */
type NumberTypes<P> = { readonly [K in keyof P as Exclude<P[K], null> extends number ? K : never]: 'bigint' };

type StatementKind<P, R> = Pick<Statement<P, R>, 'locks' | 'last' | 'combine' | 'overwrites'> & {
  readonly gathers?: Gathering<P> & { readonly types: NumberTypes<P> };
};

export function statement<P, R>(
  name: string,
  build: (db: Kysely<Schema>, params: P) => Compilable<R>,
  kind: StatementKind<P, R> = {},
): Statement<P, R> {
  return { name, build, ...kind };
}

/** The rows that a statement returns. */
export type RowOf<S> = S extends Statement<never, infer R> ? R : never;

type Row<T extends keyof Schema> = Required<Insertable<Schema[T]>>;

type Mandatory<T extends keyof Schema> = keyof {
  [C in keyof Insertable<Schema[T]> as undefined extends Insertable<Schema[T]>[C] ? never : C]: C;
};

class SameAs {
  readonly column: string;
  constructor(column: string) {
    this.column = column;
  }
}

/** The value that the caller passes for another column. */
export const sameAs = (column: string): SameAs => new SameAs(column);

/** Columns whose values no caller passes: a constant, or another column's value. */
type FixedColumns<T extends keyof Schema> = {
  readonly [C in keyof Row<T>]?: Row<T>[C] | RawBuilder<Row<T>[C]> | SameAs;
};

type InsertKind<T extends keyof Schema, P> = StatementKind<P, never> & {
  /** Changes no row if one with the same values in these columns exists. */
  readonly unlessExists?: readonly (keyof Row<T> & string)[];
};

/**
 * Inserts a row. Its parameters have the columns' names. The type refuses a list that lacks a mandatory column.
 */
export function insertInto<T extends keyof Schema, const C extends (keyof Row<T> & string) | FixedColumns<T>>(
  table: T,
  columns: readonly C[] & (Mandatory<T> extends (C extends string ? C : keyof C) ? unknown : never),
  { unlessExists, ...kind }: InsertKind<T, Pick<Row<T>, Extract<C, keyof Row<T>>>> = {},
): Statement<Pick<Row<T>, Extract<C, keyof Row<T>>>, never> {
  const build = (db: Kysely<Schema>, row: object) => {
    const passed = row as Readonly<Record<string, unknown>>;
    const values: Record<string, unknown> = {};
    for (const column of columns) {
      if (typeof column === 'string') values[column] = passed[column];
      else
        for (const [name, value] of Object.entries(column))
          values[name] = value instanceof SameAs ? passed[value.column] : value;
    }
    const insert = (db as unknown as Kysely<Record<string, Record<string, unknown>>>).insertInto(table).values(values);
    return unlessExists === undefined ? insert : insert.onConflict((c) => c.columns([...unlessExists]).doNothing());
  };
  return { name: `insert ${table}`, build: build as never, ...kind };
}

/** The values of these columns, in this order. */
export const pickColumns = <P, C extends keyof P & string>(params: P, columns: readonly C[]): Pick<P, C> =>
  Object.fromEntries(columns.map((column) => [column, params[column]])) as Pick<P, C>;

class Hole {
  readonly key: string;
  constructor(key: string) {
    this.key = key;
  }
}

export interface CompiledStatement {
  readonly name: string;
  readonly sql: string;
  /** Returns the arguments in the order of the placeholders in the SQL. */
  bind(params: unknown): unknown[];
}

/** The statements of one dialect. All connections of a process share them. */
export class CompiledStatements {
  readonly #compiled = new Map<Statement<never, unknown>, CompiledStatement>();

  /** `db` compiles the statement if it is used for the first time. */
  get<P, R>(db: Kysely<Schema>, source: Statement<P, R>): CompiledStatement {
    let compiled = this.#compiled.get(source as Statement<never, unknown>);
    if (compiled === undefined) {
      compiled = compileStatement(db, source);
      this.#compiled.set(source as Statement<never, unknown>, compiled);
    }
    return compiled;
  }
}

function compileStatement<P, R>(db: Kysely<Schema>, source: Statement<P, R>): CompiledStatement {
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
