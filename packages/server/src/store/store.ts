import type { Kysely } from 'kysely';
import type { IntegrationId } from '../domain/ids.ts';
import type { TransactionName } from '../domain/wait-points.ts';
import type { Schema } from './schema.ts';
import type { Statement } from './statement.ts';

/** Reads committed data. */
export interface Reads {
  all<P, R>(statement: Statement<P, R>, params: P): Promise<R[]>;
  /** Runs a query that is built for one call, for lists with filters. It is never used on the request path. */
  query<R>(build: BuildQuery<R>): Promise<R[]>;
}

export type BuildQuery<R> = (db: Kysely<Schema>) => QueryOf<R>;

export interface QueryOf<R> {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
  execute(): Promise<R[]>;
}

/** An open transaction. It may wait only for its own queries. */
export interface Tx extends Reads {
  /** Resolves to the number of changed rows. */
  run<P, R>(statement: Statement<P, R>, params: P): Promise<number>;
}

/** A run's transactions: flushes, steps and the end commit in order. */
export const ORDERED_TRANSACTIONS: ReadonlySet<TransactionName> = new Set([
  'flush',
  'step',
  'end',
  'takeover',
] as const);

/**
 * If several nodes share a store, a transaction belongs to its node unless it is listed here. After other nodes marked
 * the node as dead, the store refuses its transactions.
 */
export const NODELESS_TRANSACTIONS: ReadonlySet<TransactionName> = new Set(['account', 'lease'] as const);

export type StoreKind = 'sqlite' | 'postgres';

/**
 * How much an embedded store removes of deleted rows. `log`: earlier versions of pages in the write-ahead log, in
 * milliseconds. `file`: also all that pages of the database keep of deleted rows, by a rewrite of the whole database.
 */
export type ScrubDepth = 'log' | 'file';

/** The member whose row a transaction locks when it begins, and the integration that it keeps from being deleted. */
export interface MemberLock {
  readonly integrationId: IntegrationId;
  readonly consumerId: string | null;
  /**
   * What the transaction may insert under a unique index, with the integration. Transactions of a node that share a name do
   * not commit together or concurrently: the second would make all others of its commit fail.
   */
  readonly names: readonly string[];
}

/** A commit that other transactions see. */
export interface EarlyCommit {
  /** Rejects if the commit may be lost: then the caller writes everything again. */
  readonly durable: Promise<void>;
}

export interface Store extends AsyncDisposable {
  readonly kind: StoreKind;
  readonly reads: Reads;
  /**
   * Commits all or nothing, and is durable when it resolves. A thrown error rolls back only this transaction. The store
   * may call the job again if the transaction conflicted with another one or failed together with it, so the job may
   * change state only through `tx`.
   *
   * Transactions of `ORDERED_TRANSACTIONS` commit in the order in which they were handed in, and each sees what the earlier ones
   * wrote. On PostgreSQL several can commit together; then each sees what the earlier ones wrote before their first
   * answer. The other transactions are ordered only by what their callers wait for: on SQLite they use the one writer,
   * on PostgreSQL each has its own connection and can wait for a lock without blocking the writer.
   *
   * With `locks`, the job finds the member's row locked, and everything that it reads was read after that. Transactions
   * with `locks` can commit together too, if their members and names differ.
   */
  transact<T>(name: TransactionName, job: (tx: Tx) => Promise<T>, locks?: MemberLock): Promise<T>;
  /**
   * Like `transact` for `ORDERED_TRANSACTIONS`, but resolves when the commit is visible, which may be before it is durable. A
   * durable transaction that is handed in later makes it durable. Absent if a store makes every commit durable.
   */
  transactEarly?(name: TransactionName, job: (tx: Tx) => Promise<unknown>): Promise<EarlyCommit>;
  /**
   * Commits one statement with its own message to the database, and resolves to the number of changed rows. Absent if one
   * process owns the store.
   */
  runAlone?<P, R>(statement: Statement<P, R>, params: P): Promise<number>;
}

/**
 * Runs one statement that belongs to no node and may be lost, such as the time of a last use. Its locks end with it, also if
 * this process hangs or loses its connection: other nodes do not wait for them.
 */
export function runAlone<P, R>(store: Store, statement: Statement<P, R>, params: P): Promise<number> {
  return store.runAlone?.(statement, params) ?? store.transact('account', (tx) => tx.run(statement, params));
}

/** A unique index refused the row. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
}

const MAX_TRIES = 5;

/** Repeats a transaction that lost a race at a unique index. The next attempt finds the winner's row. */
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
