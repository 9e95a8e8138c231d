import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import { NodeFenced, StoreUnavailable } from '../../domain/unavailable.ts';
import type { TransactionName, WaitAt } from '../../domain/wait-points.ts';
import type { EarlyCommit, Tx } from '../store.ts';
import type { NodeIdentity } from '../this-node.ts';
import type { CommitEvidence } from './commit-marks.ts';
import type { CommitOutcomes } from './commit-outcome.ts';
import { EarlyCommits } from './early-commits.ts';
import { ConnectionLost, LostRace, translate } from './errors.ts';
import type { Fence } from './fence.ts';
import { hintQuery } from './hints.ts';
import { type PostgresSettings, sessionConfig } from './settings.ts';
import { type Opening, PostgresTransaction, type TransactionSetup } from './transaction.ts';

export const MAX_TRIES = 5;
const DURABLE: Opening = { kind: 'writer' };
const EARLY: Opening = { kind: 'writer', isEarly: true };
/** A larger commit would make the first job wait for the last, and other transactions for the locked rows. */
const JOBS_PER_COMMIT = 64;

export interface WriterOptions {
  readonly settings: PostgresSettings;
  readonly setup: TransactionSetup;
  readonly outcomes: CommitOutcomes;
  readonly fence: Fence;
  readonly waitAt: WaitAt | undefined;
  readonly onCommit: ((commitMs: number, syncMs: number) => void) | undefined;
  /** The node in whose name each commit sends hints to other nodes; null if none are sent. */
  readonly getHints: () => string | null;
}

interface Job {
  /**
   * The node that this process was when the job was handed in. The job commits in the name of this node or not at all.
   */
  readonly as: NodeIdentity | null;
  /** Null for a commit that only settles earlier ones. */
  readonly name: TransactionName | null;
  /** Set if the caller accepts that the commit is not durable yet. */
  readonly durable: PromiseWithResolvers<void> | null;
  readonly work: (tx: Tx) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The node's only writer, with its own connection. Jobs that are handed in during a commit are committed together in
 * the next one, in order. There are no savepoints, because each would cost a round trip. If a job is refused, all jobs
 * of its commit are rolled back and repeated one by one, and only the refused one fails.
 */
export class Writer implements AsyncDisposable {
  readonly #options: WriterOptions;
  #client: Client | null = null;
  #queue: Job[] = [];
  #committing = 0;
  /** How many jobs the next commit may have: fewer after a commit that was too large for the database. */
  #jobsPerCommit = JOBS_PER_COMMIT;
  #draining: Promise<void> | null = null;
  readonly #early = new EarlyCommits(() => this.#settle());

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  transact<T>(name: TransactionName, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#enqueue(name, work, null);
  }

  /** If jobs of `transact` are committed together with it, the commit is durable. */
  async transactEarly(name: TransactionName, work: (tx: Tx) => Promise<unknown>): Promise<EarlyCommit> {
    const durable = Promise.withResolvers<void>();
    durable.promise.catch(() => {});
    await this.#enqueue(name, work, durable);
    return { durable: durable.promise };
  }

  #enqueue<T>(name: TransactionName | null, work: Job['work'], durable: Job['durable']): Promise<T> {
    const as = this.#options.fence.identityFor(name ?? 'flush');
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ as, name, work, durable, resolve: resolve as (value: unknown) => void, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** The next attempt or the loss of the connection follows if it fails. */
  #settle(): void {
    try {
      this.#enqueue(null, async () => {}, null).catch(() => {});
    } catch {
      // A node that is not registered has no runs whose events could be sent again.
      this.#early.lose();
    }
  }

  get queueLength(): number {
    return this.#queue.length + this.#committing;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await nextTurn();
      const as = this.#queue[0]?.as;
      const others = this.#queue.slice(0, this.#jobsPerCommit).findIndex((job) => job.as !== as);
      const batch = this.#queue.splice(0, others === -1 ? this.#jobsPerCommit : others);
      this.#committing = batch.length;
      await this.#commitTogether(batch);
      this.#committing = 0;
    }
    this.#draining = null;
  }

  async #commitTogether(batch: readonly Job[]): Promise<void> {
    const { fence } = this.#options;
    const as = batch[0]?.as ?? null;
    for (let tries = 1; ; tries += 1) {
      try {
        const values = await this.#try(batch, as);
        this.#jobsPerCommit = Math.min(this.#jobsPerCommit * 2, JOBS_PER_COMMIT);
        for (const [index, job] of batch.entries()) {
          if (job.name !== null) this.#options.waitAt?.(`${job.name}.after-commit`);
          job.resolve(values[index]);
        }
        return;
      } catch (error) {
        if (error instanceof LostRace && tries < MAX_TRIES) continue;
        if (error instanceof NodeFenced) fence.found(as);
        // The database is away or did not answer in time.
        if (error instanceof ConnectionLost) this.#jobsPerCommit = Math.max(batch.length >>> 1, 1);
        if (error instanceof StoreUnavailable || batch.length === 1) {
          for (const job of batch) job.reject(error);
          return;
        }
        for (const job of batch) await this.#commitTogether([job]);
        return;
      }
    }
  }

  async #try(batch: readonly Job[], as: NodeIdentity | null): Promise<unknown[]> {
    const { settings, setup, outcomes, fence, waitAt, onCommit } = this.#options;
    const startedAt = performance.now();
    const client = await this.#connected();
    fence.check(as);
    // Through a pooler a crash of the server does not always end the connection.
    const isEarly = !settings.pooled && batch.every(({ durable }) => durable !== null);
    const tx = new PostgresTransaction(client, setup, as?.nodeId ?? null, isEarly ? EARLY : DURABLE);
    let values: unknown[];
    let evidence: CommitEvidence | null;
    try {
      values = await runInOneTrip(batch, tx);
      evidence = await tx.finish();
      if (waitAt !== undefined) for (const { name } of batch) if (name !== null) waitAt(`${name}.before-commit`);
    } catch (error) {
      const reason = await tx.reason(error);
      await this.#rollBack(client, reason);
      throw reason;
    }
    const workedAt = performance.now();
    if (evidence !== null) this.#hint(client);
    try {
      const { command } = await client.query('commit');
      if (command !== 'COMMIT') throw new StoreUnavailable('The database rolled back a transaction.');
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      this.#drop(client);
      // If it wrote nothing, there is nothing to lose.
      if (evidence !== null) await outcomes.settle(evidence, error);
    }
    this.#committed(batch, isEarly, client);
    const committedAt = performance.now();
    onCommit?.(committedAt - startedAt, committedAt - workedAt);
    return values;
  }

  #committed(batch: readonly Job[], isEarly: boolean, client: Client): void {
    const commits = batch.flatMap(({ durable }) => durable ?? []);
    const isConnected = this.#client === client;
    if (isConnected || isEarly) this.#early.add(commits);
    else for (const { resolve } of commits) resolve();
    if (!isConnected) this.#early.lose();
    else if (!isEarly) this.#early.settle();
  }

  /** Sent together with COMMIT, in the same transaction: if the commit fails, no other node gets the hint. */
  #hint(client: Client): void {
    const nodeId = this.#options.getHints();
    if (nodeId === null) return;
    client.query(hintQuery({ kind: 'log', nodeId })).catch(() => {});
  }

  async #connected(): Promise<Client> {
    if (this.#client !== null) return this.#client;
    const client = new Client(sessionConfig(this.#options.settings));
    client.on('error', () => this.#drop(client));
    try {
      await client.connect();
    } catch (error) {
      this.#drop(client);
      throw translate(error);
    }
    this.#client = client;
    return client;
  }

  async #rollBack(client: Client, error: unknown): Promise<void> {
    if (error instanceof ConnectionLost) return this.#drop(client);
    await client.query('rollback').catch(() => this.#drop(client));
  }

  #drop(client: Client): void {
    if (this.#client === client) {
      this.#client = null;
      this.#early.lose();
    }
    client.end().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#draining;
    const client = this.#client;
    this.#client = null;
    this.#early.lose();
    await client?.end().catch(() => {});
  }
}

/**
 * Starts all jobs in the same turn, in order. What each job issues before its first answer is sent in that order. If
 * one job fails, this waits for the others: a statement after the rollback would run outside of any transaction.
 */
async function runInOneTrip(batch: readonly Job[], tx: Tx): Promise<unknown[]> {
  const errors: unknown[] = [];
  const values = await Promise.all(
    batch.map(async ({ work }) => {
      try {
        return await work(tx);
      } catch (error) {
        errors.push(error);
        return null;
      }
    }),
  );
  // The first error is the cause: in a failed transaction every later statement is refused.
  if (errors.length > 0) throw errors[0];
  return values;
}
