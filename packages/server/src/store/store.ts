import type { Kysely } from 'kysely';
import type { TransactionName } from '../domain/wait-points.ts';
import type { Schema } from './schema.ts';
import type { Statement } from './statement.ts';

/** Reads what is committed. */
export interface Reads {
  all<P, R>(statement: Statement<P, R>, params: P): Promise<R[]>;
  /** A query put together for the occasion: for lists with filters, never on the run's road. */
  query<R>(build: (db: Kysely<Schema>) => QueryOf<R>): Promise<R[]>;
}

export interface QueryOf<R> {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
  execute(): Promise<R[]>;
}

/** A transaction under way. It awaits nothing but its own queries: it has nothing else. */
export interface Tx extends Reads {
  /** Resolves to how many rows it changed. */
  run<P, R>(statement: Statement<P, R>, params: P): Promise<number>;
}

export type StoreKind = 'sqlite' | 'postgres';

export interface Store extends AsyncDisposable {
  readonly kind: StoreKind;
  readonly reads: Reads;
  /**
   * All or nothing, durable when it resolves. Transactions commit in the order in which they were handed in.
   * A thrown error rolls back this transaction alone.
   */
  transact<T>(name: TransactionName, job: (tx: Tx) => Promise<T>): Promise<T>;
}

/** A unique index said no. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
}

export async function first<R>(rows: Promise<R[]>): Promise<R | undefined> {
  return (await rows)[0];
}
