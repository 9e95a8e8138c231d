import type { Kysely } from 'kysely';
import type { ClientBase, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { NodeFenced } from '../../domain/unavailable.ts';
import type { Schema } from '../schema.ts';
import type { Statement } from '../statement.ts';
import type { QueryOf, Tx } from '../store.ts';
import { ConnectionLost, translate } from './errors.ts';
import type { Statements } from './statements.ts';

interface Last {
  readonly order: string;
  readonly query: QueryConfig;
}

/**
 * One transaction on one connection. What is asked at once is sent at once: the connection is pipelined, and answers
 * come in the order of the questions. So `begin` costs no trip of its own, nor does the transaction's number.
 */
export class PostgresTransaction implements Tx {
  readonly #client: ClientBase;
  readonly #statements: Statements;
  readonly #begun: Promise<unknown>;
  readonly #last: Last[] = [];
  /** Whether the node whose transaction this is may write; null: it is nobody's own. */
  readonly #alive: Promise<boolean> | null;
  #xid: Promise<string | null> | null = null;

  /** `nodeId`: the node whose own transaction this is. */
  constructor(client: ClientBase, statements: Statements, beginText: string, nodeId: string | null) {
    this.#client = client;
    this.#statements = statements;
    this.#begun = client.query(beginText);
    this.#begun.catch(() => {});
    this.#alive =
      nodeId === null ? null : client.query(statements.fence(nodeId)).then(({ rowCount }) => rowCount === 1);
    this.#alive?.catch(() => {});
  }

  async all<P, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    return (await this.#ask(this.#statements.bound(statement, params))).rows as R[];
  }

  async query<R>(build: (db: Kysely<Schema>) => QueryOf<R>): Promise<R[]> {
    return (await this.#ask(this.#statements.built(build))).rows as R[];
  }

  async run<P, R>(statement: Statement<P, R>, params: P): Promise<number> {
    const query = this.#statements.bound(statement, params);
    if (statement.last !== undefined) {
      this.#last.push({ order: statement.last(params), query });
      return 1;
    }
    return this.#write(query);
  }

  async #write(query: QueryConfig): Promise<number> {
    const answer = this.#ask(query);
    this.#xid ??= this.#askXid();
    return (await answer).rowCount ?? 0;
  }

  async #ask(query: QueryConfig): Promise<QueryResult<QueryResultRow>> {
    try {
      return await this.#client.query(query);
    } catch (error) {
      throw translate(error);
    }
  }

  /** By its number the transaction's outcome can be found out where the answer to its commit was lost. */
  #askXid(): Promise<string | null> {
    return this.#client.query<{ xid: string }>(this.#statements.xid).then(
      ({ rows }) => rows[0]?.xid ?? null,
      () => null,
    );
  }

  /**
   * What has to come last, in one order for everybody, so that two transactions that raise the same rows wait for each
   * other instead of for ever. Resolves to the transaction's number; null: it wrote nothing.
   */
  async finish(): Promise<string | null> {
    await this.#begun.catch((error: unknown) => {
      throw translate(error);
    });
    await this.#checkFence();
    if (this.#last.length > 0) {
      this.#last.sort((one, other) => (one.order < other.order ? -1 : one.order > other.order ? 1 : 0));
      await Promise.all(this.#last.map(({ query }) => this.#write(query)));
    }
    if (this.#xid === null) return null;
    const xid = await this.#xid;
    // Without its number nobody could find out what became of it: then it is not committed.
    if (xid === null) throw new ConnectionLost('The database did not say the number of a transaction.');
    return xid;
  }

  /**
   * The node's row is locked until the transaction ends: whoever marks it dead waits for that, and takes its runs over
   * behind everything that was written in time.
   */
  async #checkFence(): Promise<void> {
    const isAlive = await this.#alive?.catch((error: unknown) => {
      throw translate(error);
    });
    if (isAlive === false) throw new NodeFenced('The other nodes took this one for dead.');
  }

  /**
   * Why the transaction failed: what its first statement, the look at the node's row, was told explains everything else.
   * A database that takes only reads refuses it by name, and whatever comes behind it only as part of a failed transaction.
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
