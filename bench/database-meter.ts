import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresServer } from '@runwire/test-kit';
import { familyCpuMs } from './proc.ts';

/** The work of PostgreSQL between two moments. */
export interface DatabaseWork {
  readonly cpuMs: number;
  readonly statements: number;
  readonly commits: number;
  /** Transactions with an id, because they wrote or were about to. */
  readonly writingTransactions: number;
  readonly walBytes: number;
}

interface Reading extends DatabaseWork {
  readonly atMs: number;
}

type DatabaseCounts = Omit<DatabaseWork, 'cpuMs'>;

const FIELDS = ['cpuMs', 'statements', 'commits', 'writingTransactions', 'walBytes'] as const;

/**
 * Starts PostgreSQL with every commit synced, as a user would run it; the server of the tests syncs nothing. Statements
 * are counted by an extension of PostgreSQL, which uses a little of the measured CPU.
 */
export async function startDurablePostgres(): Promise<PostgresServer> {
  const settings = { fsync: 'on', shared_buffers: '128MB', shared_preload_libraries: 'pg_stat_statements' };
  const server = await PostgresServer.start(settings);
  await server.query('create extension pg_stat_statements');
  return server;
}

/**
 * Counts one database's work. Commits are the calls of `commit`: `pg_stat_database` also counts reads outside of
 * transactions, and reports them up to ten seconds late.
 */
export class DatabaseMeter {
  readonly #server: PostgresServer;
  readonly #database: string;
  #idle: Reading | null = null;

  constructor(server: PostgresServer, url: string) {
    this.#server = server;
    this.#database = new URL(url).pathname.slice(1);
  }

  /** Measures idle servers for this time. Later results subtract this rate, because the runs do not cause it. */
  async measureIdle(seconds: number): Promise<void> {
    const before = await this.#before();
    await sleep(seconds * 1000);
    this.#idle = difference(await this.#after(), before);
  }

  /** Measures the work during `work`, without the idle work in that time. */
  async during<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly done: DatabaseWork }> {
    const before = await this.#before();
    const value = await work();
    const all = difference(await this.#after(), before);
    const idle = this.#idle;
    if (idle === null) return { value, done: all };
    const share = all.atMs / idle.atMs;
    return { value, done: mapped((field) => Math.max(0, all[field] - idle[field] * share)) };
  }

  // The queries of the meter cost CPU of PostgreSQL too, so they run outside of the measured time.
  async #before(): Promise<Reading> {
    const counted = await this.#count();
    return { ...counted, cpuMs: familyCpuMs(this.#server.pid), atMs: performance.now() };
  }

  async #after(): Promise<Reading> {
    const times = { cpuMs: familyCpuMs(this.#server.pid), atMs: performance.now() };
    return { ...(await this.#count()), ...times };
  }

  /** Runs in another database, so that it does not count itself. */
  async #count(): Promise<DatabaseCounts> {
    const [row] = await this.#server.query(`
      select coalesce(sum(calls), 0) as statements,
        coalesce(sum(calls) filter (where query ~* '^commit'), 0) as commits,
        pg_snapshot_xmax(pg_current_snapshot())::text as xids, pg_current_wal_insert_lsn() - '0/0' as wal
      from pg_stat_statements where dbid = (select oid from pg_database where datname = '${this.#database}')`);
    return {
      statements: Number(row?.statements),
      commits: Number(row?.commits),
      writingTransactions: Number(row?.xids),
      walBytes: Number(row?.wal),
    };
  }

  /** Returns the statements with the longest total time, with their calls and milliseconds. */
  async slowest(count: number): Promise<readonly { query: string; calls: number; ms: number }[]> {
    const rows = await this.#server.query(`
      select query, calls, total_exec_time as ms from pg_stat_statements
      where dbid = (select oid from pg_database where datname = '${this.#database}')
      order by total_exec_time desc limit ${count}`);
    return rows.map(({ query, calls, ms }) => ({ query: String(query), calls: Number(calls), ms: Number(ms) }));
  }
}

function mapped(value: (field: keyof DatabaseWork) => number): DatabaseWork {
  return Object.fromEntries(FIELDS.map((field) => [field, value(field)])) as unknown as DatabaseWork;
}

function difference(after: Reading, before: Reading): Reading {
  return { ...mapped((field) => after[field] - before[field]), atMs: after.atMs - before.atMs };
}

export function perRun(done: DatabaseWork, runs: number): DatabaseWork {
  return mapped((field) => done[field] / runs);
}
