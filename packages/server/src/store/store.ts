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

/** A run's own transactions: its flushes, steps and end never overtake each other. */
export const ORDERED: ReadonlySet<TransactionName> = new Set(['flush', 'step', 'end', 'takeover'] as const);

/**
 * Where several nodes share a store, a transaction is its node's own unless it is one of these: once the others took the
 * node for dead, nothing of it is written any more.
 */
export const ANY_NODES: ReadonlySet<TransactionName> = new Set(['account', 'lease'] as const);

export type StoreKind = 'sqlite' | 'postgres';

export interface Store extends AsyncDisposable {
  readonly kind: StoreKind;
  readonly reads: Reads;
  /**
   * All or nothing, durable when it resolves. A thrown error rolls back this transaction alone. The job may be called
   * again from its start, where another transaction was in its way or failed beside it: it changes nothing but by `tx`.
   *
   * Transactions of `ORDERED` commit in the order in which they were handed in, and each sees what those before it
   * wrote; on PostgreSQL, where some commit together, what they wrote before their first answer. The others are only in order with what their callers waited for: on SQLite they all go through the one
   * writer, on PostgreSQL each has a connection of its own, where it may wait for a lock without holding up the writer.
   */
  transact<T>(name: TransactionName, job: (tx: Tx) => Promise<T>): Promise<T>;
}

/** A unique index said no. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
}

const MAX_TRIES = 5;

/** "The indexes decide": whoever lost looks again, and finds the winner. */
export async function repeatOnConflict<T>(
  transact: () => Promise<T>,
  isConflict = (error: unknown): boolean => error instanceof UniqueViolation,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transact();
    } catch (error) {
      if (!isConflict(error) || tries >= MAX_TRIES) throw error;
    }
  }
}

export async function first<R>(rows: Promise<R[]>): Promise<R | undefined> {
  return (await rows)[0];
}
