import type { Kysely } from 'kysely';
import { Pool, type PoolClient, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import { NodeFenced, StoreUnavailable } from '../../domain/unavailable.ts';
import type { TransactionName, WaitAt } from '../../domain/wait-points.ts';
import { touchInstallation } from '../queries/accounts.ts';
import type { Schema } from '../schema.ts';
import type { Statement } from '../statement.ts';
import {
  type EarlyCommit,
  type MemberLock,
  ORDERED_TRANSACTIONS,
  type QueryOf,
  type Reads,
  type Store,
  type Tx,
  UniqueViolation,
} from '../store.ts';
import { type AdmissionJob, Admissions } from './admissions.ts';
import { type CommitEvidence, CommitMarks } from './commit-marks.ts';
import { CommitOutcomes, type JudgeCommit } from './commit-outcome.ts';
import { ConnectionLost, LostRace, translate } from './errors.ts';
import { Fence, type FenceOptions } from './fence.ts';
import { FirstStatistics } from './first-statistics.ts';
import { hintQuery } from './hints.ts';
import { prepareDatabase, type StartChecks } from './prepare-database.ts';
import { rollBack } from './roll-back.ts';
import { beginText, ignoreErrorEvents, type PostgresSettings, sessionConfig } from './settings.ts';
import { Statements } from './statements.ts';
import { type Opening, PostgresTransaction, type TransactionSetup } from './transaction.ts';
import { MAX_TRIES, Writer } from './writer.ts';

const IDLE_CONNECTION_MS = 60_000;

export interface PostgresStoreOptions extends PostgresSettings, FenceOptions, StartChecks {
  /** False for a command that runs beside servers: only a server changes the schema. */
  readonly migrate: boolean;
  readonly waitAt: WaitAt | undefined;
  /**
   * Called after each commit of the writer with its duration, all jobs included, and with the duration of COMMIT
   * itself.
   */
  readonly onCommit?: (commitMs: number, syncMs: number) => void;
  /** Called for each transaction that has to be repeated because of a conflict with another. */
  readonly onConflict?: (kind: ConflictKind) => void;
  /** The node in whose name hints are sent to other nodes; absent or null if none are sent. */
  readonly getHints?: () => string | null;
  /** Replaces the judgment of an unanswered COMMIT, so that a proof can plant a fault. */
  readonly judgeCommit?: JudgeCommit | undefined;
}

/** `unique`: a unique index refused a row. `repeat`: a deadlock or a lost race. */
export type ConflictKind = 'unique' | 'repeat';

type LoneJob = Omit<AdmissionJob, 'locks'> & Partial<Pick<AdmissionJob, 'locks'>>;

/** Uses one connection for the writer and a small pool for admissions, accounts and reads. */
export class PostgresStore implements Store {
  readonly kind = 'postgres';
  readonly reads: Reads;
  readonly #pool: Pool;
  /** Separate from the main pool, so that this node can fence a dead node in time even if its pool is busy. */
  readonly #leasePool: Pool;
  readonly #writer: Writer;
  readonly #admissions: Admissions;
  readonly #statements: Statements;
  readonly #outcomes: CommitOutcomes;
  readonly #fence: Fence;
  readonly #setup: TransactionSetup;
  readonly #statistics = new FirstStatistics((text) => this.#read({ text }));
  readonly #waitAt: WaitAt | undefined;
  readonly #getHints: () => string | null;
  readonly #onConflict: ((kind: ConflictKind) => void) | undefined;
  #closing: Promise<void> | null = null;

  private constructor(options: PostgresStoreOptions) {
    const { waitAt, onCommit, onConflict, getHints = () => null } = options;
    this.#waitAt = waitAt;
    // Through a pooler no node receives hints.
    this.#getHints = options.pooled ? () => null : getHints;
    this.#onConflict = onConflict;
    this.#statements = new Statements(!options.pooled);
    this.#setup = { statements: this.#statements, marks: new CommitMarks(), begin: beginText(options) };
    this.#outcomes = new CommitOutcomes(options, options.judgeCommit);
    this.#fence = new Fence(options);
    this.#pool = getPool(options, options.pool);
    this.#leasePool = getPool(options, 1);
    this.#writer = new Writer({
      settings: options,
      setup: this.#setup,
      outcomes: this.#outcomes,
      fence: this.#fence,
      waitAt,
      onCommit,
      getHints: this.#getHints,
    });
    this.#admissions = new Admissions({
      connect: () => this.#connected(),
      setup: this.#setup,
      outcomes: this.#outcomes,
      fence: this.#fence,
      waitAt,
      alone: (job) => this.#repeatAlone(job),
    });
    this.reads = {
      all: <P, R>(statement: Statement<P, R>, params: P) => this.#read<R>(this.#statements.bound(statement, params)),
      query: <R>(build: (db: Kysely<Schema>) => QueryOf<R>) => this.#read<R>(this.#statements.built(build)),
    };
  }

  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    await prepareDatabase(options, options.migrate, options);
    return new PostgresStore(options);
  }

  /** `none`: no server has created its tables here. `earlier`: a server of an earlier version did. */
  async installation(): Promise<'none' | 'earlier' | 'current'> {
    const text = `select to_regclass('installation') is not null as made, to_regclass('commit_marks') is not null as marked`;
    const [found] = await this.#read<{ made: boolean; marked: boolean }>({ text });
    if (found?.made !== true) return 'none';
    return found.marked ? 'current' : 'earlier';
  }

  /** The number of transactions that were handed in and not answered yet, including jobs that wait for a connection. */
  get queueLength(): number {
    return this.#writer.queueLength + this.#admissions.queueLength + this.#pool.waitingCount;
  }

  async transact<T>(name: TransactionName, job: (tx: Tx) => Promise<T>, locks?: MemberLock): Promise<T> {
    if (this.#closing !== null) throw new StoreUnavailable('The store is closed.');
    if (ORDERED_TRANSACTIONS.has(name)) return this.#writer.transact(name, job);
    if (locks !== undefined) {
      this.#statistics.admitted();
      return this.#admissions.transact(name, locks, job);
    }
    return (await this.#repeatAlone({ name, work: job, as: this.#fence.identityFor(name) })) as T;
  }

  async transactEarly(name: TransactionName, job: (tx: Tx) => Promise<unknown>): Promise<EarlyCommit> {
    if (this.#closing !== null) throw new StoreUnavailable('The store is closed.');
    return this.#writer.transactEarly(name, job);
  }

  async runAlone<P, R>(statement: Statement<P, R>, params: P): Promise<number> {
    if (this.#closing !== null) throw new StoreUnavailable('The store is closed.');
    return (await this.#query(this.#statements.bound(statement, params))).rowCount ?? 0;
  }

  async #repeatAlone(job: LoneJob): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#transactAlone(job);
      } catch (error) {
        if (error instanceof NodeFenced) this.#fence.found(job.as);
        if (error instanceof UniqueViolation) this.#onConflict?.('unique');
        if (!(error instanceof LostRace) || tries >= MAX_TRIES) throw error;
        this.#onConflict?.('repeat');
      }
    }
  }

  async #transactAlone({ name, work, as, locks }: LoneJob): Promise<unknown> {
    this.#fence.check(as);
    const client = await this.#connected(name === 'lease' ? this.#leasePool : this.#pool);
    const opening: Opening = locks === undefined ? { kind: 'plain' } : { kind: 'admission', members: [locks] };
    const tx = new PostgresTransaction(client, this.#setup, as?.nodeId ?? null, opening);
    let value: unknown;
    let evidence: CommitEvidence | null;
    try {
      value = await work(tx);
      evidence = await tx.finish();
      this.#waitAt?.(`${name}.before-commit`);
    } catch (error) {
      const reason = await tx.reason(error);
      rollBack(client, reason);
      throw reason;
    }
    // Sent together with COMMIT, in the same transaction: if the commit fails, no other node gets the hint.
    const nodeId = this.#getHints();
    if (nodeId !== null && name === 'cancel') client.query(hintQuery({ kind: 'cancel' })).catch(() => {});
    if (nodeId !== null && name === 'publish') client.query(hintQuery({ kind: 'log', nodeId })).catch(() => {});
    try {
      const { command } = await client.query('commit');
      client.release();
      if (command !== 'COMMIT') throw new StoreUnavailable('The database rolled back a transaction.');
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      client.release(true);
      // If it wrote nothing, there is nothing to lose.
      if (evidence !== null) await this.#outcomes.settle(evidence, error);
    }
    this.#waitAt?.(`${name}.after-commit`);
    return value;
  }

  async #read<R>(query: QueryConfig): Promise<R[]> {
    return (await this.#query(query)).rows as R[];
  }

  async #query(query: QueryConfig): Promise<QueryResult<QueryResultRow>> {
    const client = await this.#connected();
    let failed: unknown = null;
    try {
      return await client.query(query);
    } catch (error) {
      failed = translate(error);
      throw failed;
    } finally {
      client.release(failed instanceof ConnectionLost);
    }
  }

  async #connected(pool = this.#pool): Promise<PoolClient> {
    try {
      return await pool.connect();
    } catch (error) {
      throw translate(error);
    }
  }

  /** A commit's median time, in milliseconds. */
  async measureCommit(): Promise<number> {
    const times: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      const start = performance.now();
      await this.transact('account', (tx) => tx.run(touchInstallation, {}));
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[2] ?? 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#writer[Symbol.asyncDispose](), this.#admissions[Symbol.asyncDispose]()]);
    this.#outcomes[Symbol.dispose]();
    await Promise.all([this.#pool.end(), this.#leasePool.end()]);
  }
}

function getPool(settings: PostgresSettings, max: number): Pool {
  const pool = new Pool({ ...sessionConfig(settings), max, idleTimeoutMillis: IDLE_CONNECTION_MS });
  ignoreErrorEvents(pool);
  return pool;
}
