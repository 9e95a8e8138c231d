import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresServer } from '@runwire/test-kit';
import { familyCpuMs } from './proc.ts';

/** What PostgreSQL did, between two moments. */
export interface DatabaseWork {
  readonly cpuMs: number;
  readonly statements: number;
  readonly commits: number;
  /** Transactions that got a number: those that wrote, or were about to. */
  readonly writingTransactions: number;
  readonly rowsWritten: number;
  readonly walBytes: number;
}

interface Reading extends DatabaseWork {
  readonly atMs: number;
}

type Counted = Omit<DatabaseWork, 'cpuMs'>;

const FIELDS = ['cpuMs', 'statements', 'commits', 'writingTransactions', 'rowsWritten', 'walBytes'] as const;

/**
 * As a user would run it, with every commit synced: the tests' own server syncs nothing. Statements are counted by
 * PostgreSQL's own extension, which costs it a little of the CPU that is measured.
 */
export async function startDurablePostgres(): Promise<PostgresServer> {
  const settings = { fsync: 'on', shared_buffers: '128MB', shared_preload_libraries: 'pg_stat_statements' };
  const server = await PostgresServer.start(settings);
  await server.query('create extension pg_stat_statements');
  return server;
}

/**
 * Counts what one database is asked. Commits are the calls of `commit`: `pg_stat_database` counts the reads outside
 * transactions with them, and says so only when a connection has rested for up to ten seconds.
 */
export class DatabaseMeter {
  readonly #server: PostgresServer;
  readonly #database: string;
  #idle: Reading | null = null;

  constructor(server: PostgresServer, url: string) {
    this.#server = server;
    this.#database = new URL(url).pathname.slice(1);
  }

  /** Looks at servers that have nothing to do, for so long: this much of each later figure is not the runs'. */
  async measureIdle(seconds: number): Promise<void> {
    const before = await this.#before();
    await sleep(seconds * 1000);
    this.#idle = difference(await this.#after(), before);
  }

  /** What was done during `work`, without what would have been done anyway in that time. */
  async during<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly done: DatabaseWork }> {
    const before = await this.#before();
    const value = await work();
    const all = difference(await this.#after(), before);
    const idle = this.#idle;
    if (idle === null) return { value, done: all };
    const share = all.atMs / idle.atMs;
    return { value, done: mapped((field) => Math.max(0, all[field] - idle[field] * share)) };
  }

  // To ask is work of PostgreSQL's too: it stands outside of the time whose CPU is read.
  async #before(): Promise<Reading> {
    const counted = await this.#count();
    return { ...counted, cpuMs: familyCpuMs(this.#server.pid), atMs: performance.now() };
  }

  async #after(): Promise<Reading> {
    const times = { cpuMs: familyCpuMs(this.#server.pid), atMs: performance.now() };
    return { ...(await this.#count()), ...times };
  }

  /** Asked in another database, so it does not count itself. */
  async #count(): Promise<Counted> {
    const [row] = await this.#server.query(`
      select coalesce(sum(calls), 0) as statements,
        coalesce(sum(calls) filter (where query ~* '^commit'), 0) as commits,
        coalesce(sum(rows) filter (where query ~* '^(insert|update|delete)'), 0) as rows,
        pg_snapshot_xmax(pg_current_snapshot())::text as xids, pg_current_wal_insert_lsn() - '0/0' as wal
      from pg_stat_statements where dbid = (select oid from pg_database where datname = '${this.#database}')`);
    return {
      statements: Number(row?.statements),
      commits: Number(row?.commits),
      writingTransactions: Number(row?.xids),
      rowsWritten: Number(row?.rows),
      walBytes: Number(row?.wal),
    };
  }

  /** The statements that took PostgreSQL longest, with their calls and milliseconds. */
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
