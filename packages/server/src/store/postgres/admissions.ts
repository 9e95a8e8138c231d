import { setImmediate as nextTurn } from 'node:timers/promises';
import { CellSet } from '@runwire/lib/cells.ts';
import { withTimeout } from '@runwire/lib/with-timeout.ts';
import type { Kysely } from 'kysely';
import type { PoolClient } from 'pg';
import { NodeFenced, StoreUnavailable } from '../../domain/unavailable.ts';
import type { TransactionName, WaitAt } from '../../domain/wait-points.ts';
import type { Schema } from '../schema.ts';
import type { Statement } from '../statement.ts';
import type { MemberLock, QueryOf, Tx } from '../store.ts';
import type { NodeIdentity } from '../this-node.ts';
import type { CommitEvidence } from './commit-marks.ts';
import type { CommitOutcomes } from './commit-outcome.ts';
import { ConnectionLost } from './errors.ts';
import type { Fence } from './fence.ts';
import { rollBack } from './roll-back.ts';
import { PostgresTransaction, type TransactionSetup } from './transaction.ts';

/** A larger commit would make the first job wait for the last. */
const JOBS_PER_COMMIT = 32;
/** The next commit starts when the previous one has ended, or after this time: it may wait for a lock. */
const PATIENCE_MS = 5;

export interface AdmissionsOptions {
  readonly connect: () => Promise<PoolClient>;
  readonly setup: TransactionSetup;
  readonly outcomes: CommitOutcomes;
  readonly fence: Fence;
  readonly waitAt: WaitAt | undefined;
  /** Commits a job in its own transaction, which waits for its locks. */
  readonly alone: (job: AdmissionJob) => Promise<unknown>;
}

export interface AdmissionJob {
  /** The node that this process was when the job was handed in. */
  readonly as: NodeIdentity | null;
  readonly name: TransactionName;
  readonly locks: MemberLock;
  readonly work: (tx: Tx) => Promise<unknown>;
}

interface QueuedJob extends AdmissionJob {
  /** The job's names and its member. Jobs that share a key do not share a transaction. */
  readonly keys: readonly string[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Admissions that are handed in during one turn, or while the previous ones commit, share a transaction:
 *
 *   begin · node, integrations and members in one statement, without waiting · the facts of all · the rows of all · commit
 *
 * - Two jobs of one member never share one: each must see what the other has reserved.
 * - Two jobs that share a name do not either: the database can refuse the second, and then all others fail with it. The
 *   second is not started before the first is answered: otherwise all others of its transaction would wait for the first.
 * - If another transaction has locked a job's member, the job leaves and is committed alone.
 * - If a job is refused before it wrote, it fails alone. There are no savepoints: if a job fails later, or the database
 *   refuses a statement, everything is rolled back and each job is committed alone.
 */
export class Admissions implements AsyncDisposable {
  readonly #options: AdmissionsOptions;
  #queue: QueuedJob[] = [];
  /** The names of the jobs that were started and not answered yet. */
  readonly #namesInFlight = new Set<string>();
  readonly #underWay = new CellSet<Promise<void>>();
  #draining: Promise<void> | null = null;

  constructor(options: AdmissionsOptions) {
    this.#options = options;
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  transact<T>(name: TransactionName, locks: MemberLock, work: (tx: Tx) => Promise<T>): Promise<T> {
    const as = this.#options.fence.identityFor(name);
    const { integrationId, consumerId, names } = locks;
    const keys = consumerId === null ? names : [...names, JSON.stringify([integrationId, consumerId])];
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ as, name, locks, work, keys, resolve: resolve as (value: unknown) => void, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Ends when the queue is empty, or if all jobs of the queue wait for names. */
  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await nextTurn();
      const batch = this.#takeBatch();
      if (batch.length === 0) break;
      const committing = this.#commit(batch);
      const cell = this.#underWay.add(committing);
      void committing.finally(() => this.#underWay.delete(cell));
      await withTimeout(committing, PATIENCE_MS, () => {});
    }
    this.#draining = null;
  }

  /** Takes the first jobs of the queue that may share a transaction. */
  #takeBatch(): QueuedJob[] {
    const batch: QueuedJob[] = [];
    const rest: QueuedJob[] = [];
    const taken = new Set(this.#namesInFlight);
    for (const job of this.#queue) {
      const fits = batch.length < JOBS_PER_COMMIT && (batch[0] === undefined || batch[0].as === job.as);
      if (!fits || job.keys.some((key) => taken.has(key))) rest.push(job);
      else batch.push(job);
      // A job that waits is committed before the next one with its keys.
      for (const key of job.keys) taken.add(key);
    }
    this.#queue = rest;
    for (const job of batch) for (const name of job.locks.names) this.#namesInFlight.add(name);
    return batch;
  }

  async #commit(batch: readonly QueuedJob[]): Promise<void> {
    const jobs = batch.length === 1 ? batch : await this.#together(batch);
    // Released before the jobs that leave are committed: these may wait for locks.
    for (const job of batch) if (!jobs.includes(job)) this.#release(job);
    await Promise.all(jobs.map((job) => this.#commitAlone(job)));
  }

  async #commitAlone(job: QueuedJob): Promise<void> {
    await this.#options.alone(job).then(job.resolve, job.reject);
    this.#release(job);
  }

  /** Starts the jobs that waited for this one's names. */
  #release({ locks }: QueuedJob): void {
    for (const name of locks.names) this.#namesInFlight.delete(name);
    if (this.#queue.length > 0) this.#draining ??= this.#drain();
  }

  /** Returns the jobs that have to be committed alone. The others are answered. */
  async #together(batch: readonly QueuedJob[]): Promise<readonly QueuedJob[]> {
    const { connect, setup, outcomes, fence, waitAt } = this.#options;
    const as = batch[0]?.as ?? null;
    const failAll = (error: unknown) => {
      for (const job of batch) job.reject(error);
      return [];
    };
    let client: PoolClient;
    try {
      fence.check(as);
      client = await connect();
    } catch (error) {
      return failAll(error);
    }
    const members = batch.map(({ locks }) => locks);
    const tx = new PostgresTransaction(client, setup, as?.nodeId ?? null, { kind: 'admission', members });
    const parts = batch.map((job, index) => new SharedJob(job, tx, index));
    await Promise.all(parts.map((part) => part.work()));
    let evidence: CommitEvidence | null;
    try {
      const failed = parts.find((part) => part.mustRollBack);
      if (failed !== undefined) throw failed.error;
      evidence = await tx.finish();
      if (waitAt !== undefined) for (const { job } of parts) waitAt(`${job.name}.before-commit`);
    } catch (error) {
      const reason = await tx.reason(error);
      rollBack(client, reason);
      if (reason instanceof NodeFenced) fence.found(as);
      return reason instanceof NodeFenced || reason instanceof ConnectionLost ? failAll(reason) : batch;
    }
    const commits = client.query('commit');
    const silent = parts.filter((part) => !part.wrote).map(({ job }) => job);
    try {
      const { command } = await commits;
      client.release();
      if (command !== 'COMMIT') return batch;
    } catch (error) {
      client.release(true);
      try {
        // If it wrote nothing, there is nothing to lose.
        if (evidence !== null) await outcomes.settle(evidence, error);
      } catch (lost) {
        for (const { job, wrote } of parts) if (wrote) job.reject(lost);
        return silent;
      }
    }
    for (const part of parts) if (!part.leaves) this.#answer(part);
    return parts.filter((part) => part.leaves).map(({ job }) => job);
  }

  #answer({ job, error, value }: SharedJob): void {
    if (error !== null) job.reject(error);
    else {
      this.#options.waitAt?.(`${job.name}.after-commit`);
      job.resolve(value);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    while (this.#draining !== null || this.#underWay.size > 0) {
      await this.#draining;
      await Promise.all(this.#underWay);
    }
  }
}

/** Another transaction has locked the job's member, or the member does not exist. */
class NotLocked extends StoreUnavailable {}

/** One job in a shared transaction. */
class SharedJob implements Tx {
  readonly job: QueuedJob;
  readonly #tx: PostgresTransaction;
  readonly #index: number;
  /** True if the job may have written. */
  wrote = false;
  value: unknown = null;
  /** Null if the job succeeded. */
  error: unknown = null;

  constructor(job: QueuedJob, tx: PostgresTransaction, index: number) {
    this.job = job;
    this.#tx = tx;
    this.#index = index;
  }

  async work(): Promise<void> {
    try {
      this.value = await this.job.work(this);
    } catch (error) {
      this.error = error;
    }
  }

  /** True if the job is committed alone, after this transaction. */
  get leaves(): boolean {
    return this.error instanceof NotLocked;
  }

  get mustRollBack(): boolean {
    return this.error !== null && (this.wrote || this.#tx.isBroken);
  }

  async all<P, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    this.wrote ||= this.#tx.writes(statement);
    return this.#checked(this.#tx.all(statement, params));
  }

  async query<R>(build: (db: Kysely<Schema>) => QueryOf<R>): Promise<R[]> {
    return this.#checked(this.#tx.query(build));
  }

  async run<P, R>(statement: Statement<P, R>, params: P): Promise<number> {
    this.wrote = true;
    return this.#checked(this.#tx.run(statement, params));
  }

  /** The statement is sent without waiting for the answer about the lock, which arrives first. */
  async #checked<T>(answer: Promise<T>): Promise<T> {
    answer.catch(() => {});
    if (!(await this.#tx.hasLocked(this.#index))) throw new NotLocked('The member of an admission is locked.');
    return answer;
  }
}
