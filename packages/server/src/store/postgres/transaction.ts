import type { Kysely } from 'kysely';
import type { ClientBase, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { NodeFenced } from '../../domain/unavailable.ts';
import type { Schema } from '../schema.ts';
import type { Statement } from '../statement.ts';
import type { QueryOf, Tx } from '../store.ts';
import type { CommitEvidence, CommitMarks } from './commit-marks.ts';
import { ConnectionLost, translate } from './errors.ts';
import type { Statements } from './statements.ts';

interface Last {
  readonly order: string;
  readonly statement: Statement<unknown, unknown>;
  params: unknown;
}

/** The parts that all transactions of a store share. */
export interface TransactionSetup {
  readonly statements: Statements;
  readonly marks: CommitMarks;
  /** The text that begins a transaction. */
  readonly begin: string;
}

/** Statements that write. If they return rows too, they are sent with `all`, like a read. */
const WRITES = /^(insert|update|delete)\b/;

/**
 * A transaction on one connection. The connection is pipelined: statements that are issued together are sent together
 * and answered in order. So `begin`, the check of the node's row and the commit mark cost no round trip of their own.
 */
export class PostgresTransaction implements Tx {
  readonly #client: ClientBase;
  readonly #setup: TransactionSetup;
  readonly #begun: Promise<unknown>;
  readonly #last: Last[] = [];
  /** True if the node of this transaction may write. Null if the transaction belongs to no node. */
  readonly #alive: Promise<boolean> | null;
  /** Null before the first write. */
  #evidence: Promise<CommitEvidence | null> | null = null;

  /** `nodeId`: the node that the transaction belongs to. */
  constructor(client: ClientBase, setup: TransactionSetup, nodeId: string | null) {
    this.#client = client;
    this.#setup = setup;
    this.#begun = client.query(setup.begin);
    this.#begun.catch(() => {});
    this.#alive =
      nodeId === null ? null : client.query(setup.statements.fence(nodeId)).then(({ rowCount }) => rowCount === 1);
    this.#alive?.catch(() => {});
  }

  async all<P, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    return this.#rows<R>(this.#setup.statements.bound(statement, params));
  }

  async query<R>(build: (db: Kysely<Schema>) => QueryOf<R>): Promise<R[]> {
    return this.#rows<R>(this.#setup.statements.built(build));
  }

  async #rows<R>(query: QueryConfig): Promise<R[]> {
    const answer = this.#ask(query);
    if (WRITES.test(query.text)) this.#evidence ??= this.#writeMark();
    return (await answer).rows as R[];
  }

  async run<P, R>(statement: Statement<P, R>, params: P): Promise<number> {
    if (statement.last !== undefined) {
      this.#writeLast(statement as Statement<unknown, unknown>, statement.last(params), params);
      return 1;
    }
    return this.#write(this.#setup.statements.bound(statement, params));
  }

  #writeLast(statement: Statement<unknown, unknown>, order: string, params: unknown): void {
    const same = (last: Last) => last.statement === statement && last.order === order;
    const known = statement.combine === undefined ? undefined : this.#last.find(same);
    if (known === undefined) this.#last.push({ order, statement, params });
    else known.params = statement.combine?.(known.params, params);
  }

  async #write(query: QueryConfig): Promise<number> {
    const answer = this.#ask(query);
    this.#evidence ??= this.#writeMark();
    return (await answer).rowCount ?? 0;
  }

  async #ask(query: QueryConfig): Promise<QueryResult<QueryResultRow>> {
    try {
      return await this.#client.query(query);
    } catch (error) {
      throw translate(error);
    }
  }

  /** Sent together with the first write. The later judgment of an unanswered COMMIT depends on it. */
  #writeMark(): Promise<CommitEvidence | null> {
    const mark = this.#setup.marks.next(this.#client);
    return this.#client.query<{ xid: string }>(this.#setup.statements.mark(mark)).then(
      ({ rows }) => (rows[0] === undefined ? null : { mark, xid: rows[0].xid }),
      () => null,
    );
  }

  /**
   * Runs the statements that have to be last, in the same order in every process, so that two transactions that raise the
   * same rows do not deadlock. Resolves to the evidence for the commit, or to null if the transaction wrote nothing.
   */
  async finish(): Promise<CommitEvidence | null> {
    await this.#begun.catch((error: unknown) => {
      throw translate(error);
    });
    await this.#checkFence();
    if (this.#last.length > 0) {
      this.#last.sort((one, other) => (one.order < other.order ? -1 : one.order > other.order ? 1 : 0));
      const { statements } = this.#setup;
      await Promise.all(this.#last.map(({ statement, params }) => this.#write(statements.bound(statement, params))));
    }
    if (this.#evidence === null) return null;
    const evidence = await this.#evidence;
    // Without a mark the outcome of the commit could not be judged: do not commit.
    if (evidence === null) throw new ConnectionLost('The database did not store the mark of a transaction.');
    return evidence;
  }

  /**
   * The node's row is locked until the transaction ends. A node that marks it dead waits for that, and takes its runs over
   * after everything that was written in time.
   */
  async #checkFence(): Promise<void> {
    const isAlive = await this.#alive?.catch((error: unknown) => {
      throw translate(error);
    });
    if (isAlive === false) throw new NodeFenced('This node was fenced by another node.');
  }

  /**
   * Returns the reason why the transaction failed. The first statement, the check of the node's row, has the real
   * reason: a database that accepts only reads refuses this statement with a specific error, and every later one only
   * as part of a failed transaction.
   */
  async reason(error: unknown): Promise<unknown> {
    if (error instanceof ConnectionLost) return error;
    try {
      await this.#checkFence();
      return error;
    } catch (fence) {
      return fence;
    }
  }
}
