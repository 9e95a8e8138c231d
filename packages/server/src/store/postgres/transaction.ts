import type { Kysely } from 'kysely';
import type { ClientBase, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { NodeFenced } from '../../domain/unavailable.ts';
import type { Schema } from '../schema.ts';
import type { Statement } from '../statement.ts';
import type { MemberLock, QueryOf, Tx } from '../store.ts';
import type { CommitEvidence, CommitMark, CommitMarks } from './commit-marks.ts';
import { ConnectionLost, translate } from './errors.ts';
import { GatheredCalls } from './gathered-calls.ts';
import { SET_PLANNING } from './settings.ts';
import type { Statements } from './statements.ts';
import type { Part } from './together.ts';

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

/**
 * `plain`: checks the node's row; the mark is sent with the first write, because many transactions write nothing.
 * `writer`: checks the row and writes the mark; with `isEarly` the commit does not wait until it is on the disk.
 * `admission`: checks the row and locks the members.
 */
export type Opening =
  | { readonly kind: 'plain' }
  | { readonly kind: 'writer'; readonly isEarly?: true }
  | { readonly kind: 'admission'; readonly members: readonly MemberLock[] };

interface OpeningResult {
  /** True if this transaction's node may write. */
  readonly alive: boolean;
  /** The members that are locked, by index from 1 on; null if all are. */
  readonly locked: readonly number[] | null;
}

/** Statements that write. If they return rows too, they are sent with `all`, like a read. */
const WRITES = /^(insert|update|delete)\b/;

/**
 * A transaction on one connection. The connection is pipelined: statements that are issued together are sent together
 * and answered in order. So `begin` and the opening statement cost no round trip of their own. Calls of one statement
 * that are issued together are sent as one statement (`GatheredCalls`).
 */
export class PostgresTransaction implements Tx {
  readonly #client: ClientBase;
  readonly #setup: TransactionSetup;
  readonly #begun: Promise<unknown>;
  readonly #opened: Promise<OpeningResult>;
  readonly #gathered: GatheredCalls;
  #last: Last[] = [];
  /** Null before the first write. */
  #evidence: Promise<CommitEvidence | null> | null = null;
  #isBroken = false;

  /** `nodeId`: the node that the transaction belongs to; null if it needs none. */
  constructor(
    client: ClientBase,
    setup: TransactionSetup,
    nodeId: string | null,
    opening: Opening = { kind: 'plain' },
  ) {
    this.#client = client;
    this.#setup = setup;
    // The locks of several admissions are a join, which needs the settings too. All other openings set them for later.
    const isShared = opening.kind === 'admission' && opening.members.length > 1;
    this.#begun = client.query(isShared ? `${setup.begin}; ${SET_PLANNING}` : setup.begin);
    this.#begun.catch(() => {});
    this.#gathered = new GatheredCalls(setup.statements, {
      one: (query) => this.#send(query),
      together: (parts) => this.#sendTogether(parts),
    });
    this.#opened = this.#open(nodeId, opening);
    this.#opened.catch(() => {});
  }

  #open(nodeId: string | null, opening: Opening): Promise<OpeningResult> {
    const { statements, marks } = this.#setup;
    const isAlive = (row: OpeningRow | undefined) => nodeId === null || row?.alive === 1;
    const ask = (query: QueryConfig) => this.#client.query<OpeningRow>(query).then(({ rows }) => rows[0]);
    if (opening.kind === 'writer') {
      const mark = marks.next(this.#client);
      const answer = ask(statements.openWriter(nodeId, mark, opening.isEarly === true));
      this.#evidence = answer.then(
        (row) => toEvidence(mark, row?.xid),
        () => null,
      );
      return answer.then((row) => ({ alive: isAlive(row), locked: null }));
    }
    if (opening.kind === 'admission') {
      return ask(statements.openAdmission(nodeId, opening.members)).then((row) => ({
        alive: isAlive(row),
        locked: row?.locked?.map(Number) ?? null,
      }));
    }
    if (nodeId === null) return Promise.resolve({ alive: true, locked: null });
    return ask(statements.fence(nodeId)).then((row) => ({ alive: isAlive(row), locked: null }));
  }

  /** True if the transaction locked the member with this index in its opening. */
  async hasLocked(index: number): Promise<boolean> {
    const { locked } = await this.#opened.catch((error: unknown) => {
      throw translate(error);
    });
    return locked === null || locked.includes(index + 1);
  }

  /** True if the database refused a statement: nothing of the transaction can be committed. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  writes<P, R>(statement: Statement<P, R>): boolean {
    return WRITES.test(this.#setup.statements.text(statement));
  }

  async all<P, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    if (statement.gathers !== undefined) {
      return (await this.#gathered.add(statement, statement.gathers, params, true)).rows as R[];
    }
    return this.#rows<R>(this.#setup.statements.bound(statement, params));
  }

  async query<R>(build: (db: Kysely<Schema>) => QueryOf<R>): Promise<R[]> {
    return this.#rows<R>(this.#setup.statements.built(build));
  }

  async #rows<R>(query: QueryConfig): Promise<R[]> {
    this.#gathered.send();
    return (await this.#send(query)).rows as R[];
  }

  async run<P, R>(statement: Statement<P, R>, params: P): Promise<number> {
    if (statement.last !== undefined) {
      this.#writeLast(statement as Statement<unknown, unknown>, statement.last(params), params);
      return 1;
    }
    return this.#change(statement, params);
  }

  #writeLast(statement: Statement<unknown, unknown>, order: string, params: unknown): void {
    const same = (last: Last) => last.statement === statement && last.order === order;
    const known = statement.combine === undefined ? undefined : this.#last.find(same);
    if (known === undefined) this.#last.push({ order, statement, params });
    else known.params = statement.combine?.(known.params, params);
  }

  async #change<P, R>(statement: Statement<P, R>, params: P): Promise<number> {
    if (statement.gathers !== undefined) {
      return (await this.#gathered.add(statement, statement.gathers, params, false)).count;
    }
    this.#gathered.send();
    return (await this.#send(this.#setup.statements.bound(statement, params))).rowCount ?? 0;
  }

  async #send(query: QueryConfig): Promise<QueryResult<QueryResultRow>> {
    const answer = this.#client.query(query);
    if (WRITES.test(query.text)) this.#evidence ??= this.#writeMark();
    try {
      return await answer;
    } catch (error) {
      this.#isBroken = true;
      throw translate(error);
    }
  }

  /** The mark is part of the statement if this is the first write. */
  async #sendTogether(parts: readonly Part[]): Promise<QueryResultRow> {
    const mark = this.#evidence === null ? this.#setup.marks.next(this.#client) : null;
    const answer = this.#client.query(this.#setup.statements.together(parts, mark)).then(({ rows }) => rows[0] ?? {});
    if (mark !== null) {
      this.#evidence = answer.then(
        (row) => toEvidence(mark, row.xid),
        () => null,
      );
    }
    try {
      return await answer;
    } catch (error) {
      this.#isBroken = true;
      throw translate(error);
    }
  }

  /** Sent together with the first write. The later judgment of an unanswered COMMIT depends on it. */
  #writeMark(): Promise<CommitEvidence | null> {
    const mark = this.#setup.marks.next(this.#client);
    return this.#client.query<OpeningRow>(this.#setup.statements.mark(mark)).then(
      ({ rows }) => toEvidence(mark, rows[0]?.xid),
      () => null,
    );
  }

  /**
   * Runs the statements that have to be last, in the same order in every process, so that two transactions that raise the
   * same rows do not deadlock. Resolves to the evidence for the commit, or to null if the transaction wrote nothing.
   */
  async finish(): Promise<CommitEvidence | null> {
    this.#gathered.send();
    await this.#begun.catch((error: unknown) => {
      throw translate(error);
    });
    await this.#checkFence();
    if (this.#last.length > 0) {
      const last = this.#last.sort((one, other) => (one.order < other.order ? -1 : one.order > other.order ? 1 : 0));
      this.#last = [];
      const written = last.map(({ statement, params }) => this.#change(statement, params));
      this.#gathered.send();
      await Promise.all(written);
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
    const { alive } = await this.#opened.catch((error: unknown) => {
      throw translate(error);
    });
    if (!alive) throw new NodeFenced('This node was fenced by another node.');
  }

  /**
   * Returns the reason why the transaction failed. The first statement, the check of the node's row, has the real
   * reason: a database that accepts only reads refuses this statement with a specific error, and every later one only
   * as part of a failed transaction. Nothing is sent after this.
   */
  async reason(error: unknown): Promise<unknown> {
    this.#gathered.discard(error);
    if (error instanceof ConnectionLost) return error;
    try {
      await this.#checkFence();
      return error;
    } catch (fence) {
      return fence;
    }
  }
}

interface OpeningRow {
  readonly alive: number;
  readonly xid?: string;
  readonly locked?: readonly string[];
}

function toEvidence(mark: CommitMark, xid: string | undefined): CommitEvidence | null {
  return xid === undefined ? null : { mark, xid };
}
