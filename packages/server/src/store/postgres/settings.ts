import pg, { type ClientConfig, type Pool } from 'pg';
import { GatheringSocket } from './gathering-socket.ts';

/** How to connect to the database. `url` contains the password. */
export interface PostgresSettings {
  readonly url: string;
  /** The number of connections besides the writer's. */
  readonly pool: number;
  /**
   * True if the connections go through a pooler in transaction mode: no prepared statements, no settings of a session.
   */
  readonly pooled: boolean;
  /** `DATABASE_TIMES` by default. */
  readonly times?: DatabaseTimes | undefined;
}

/** The time limits of the connections of a server. */
export interface DatabaseTimes {
  readonly idleInTransactionMs: number;
  readonly lockMs: number;
  readonly statementMs: number;
  /** Longer than the other limits: PostgreSQL applies those, and this limit is for a PostgreSQL that does not answer. */
  readonly answerMs: number;
}

export const DATABASE_TIMES: DatabaseTimes = {
  idleInTransactionMs: 3000,
  lockMs: 2000,
  statementMs: 5000,
  answerMs: 8000,
};
export const CONNECT_MS = 5000;

/** An idle connection is probed after this time. libuv then probes every second and gives up after 10 probes. */
const KEEPALIVE_IDLE_MS = 15_000;

/**
 * How PostgreSQL notices a node that the network does not reach any more. All limits together are shorter than a minute:
 * - An idle session ends after 45 s of unanswered probes: 15 s, then 6 probes every 5 s.
 * - `tcp_user_timeout` is for a session that has sent something, such as a notification: the kernel sends no probes then,
 *   and would repeat the data for 15 minutes.
 * - `client_connection_check_interval` ends a statement whose client is gone.
 * On a Unix socket they have no effect.
 */
export const LIVENESS: Readonly<Record<string, string>> = {
  tcp_keepalives_idle: '15',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '6',
  tcp_user_timeout: '45000',
  client_connection_check_interval: '10000',
};

const INT8 = 20;
const NUMERIC = 1700;

/** Parses 64-bit integers as numbers. Throws if a number cannot hold the value exactly. */
function integer(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`The integer ${text} is too large for an exact number.`);
  return value;
}

const types = {
  getTypeParser(id: number, format?: 'text' | 'binary') {
    // PostgreSQL returns sums of 64-bit integers as numeric.
    if (format !== 'binary' && (id === INT8 || id === NUMERIC)) return integer;
    return pg.types.getTypeParser(id, format);
  },
} as NonNullable<ClientConfig['types']>;

/**
 * The configuration of every connection except those for migrations. A transaction that hangs must not block others, so
 * idle time, lock waits and statements are limited.
 */
export function sessionConfig(settings: PostgresSettings): ClientConfig {
  const { pooled, times = DATABASE_TIMES } = settings;
  const stream = () => new GatheringSocket();
  const bare: ClientConfig = { ...plainConfig(settings), query_timeout: times.answerMs, pipeline: true, stream };
  if (pooled) return bare;
  return {
    ...bare,
    idle_in_transaction_session_timeout: times.idleInTransactionMs,
    lock_timeout: times.lockMs,
    statement_timeout: times.statementMs,
  };
}

/** Without time limits, because a migration can take long. */
export function plainConfig({ url, pooled }: Pick<PostgresSettings, 'url' | 'pooled'>): ClientConfig {
  return {
    // The session of a pooler is not ours, and a pooler may refuse options.
    connectionString: pooled ? url : withLiveness(url),
    types,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_IDLE_MS,
    fallback_application_name: 'runwire',
  };
}

/** Adds `LIVENESS` to the address's options. A setting that the operator has put there is kept. */
function withLiveness(url: string): string {
  const address = new URL(url);
  const own = address.searchParams.get('options') ?? '';
  const missing = Object.entries(LIVENESS).filter(([name]) => !own.includes(name));
  const options = [...missing.map(([name, value]) => `-c ${name}=${value}`), own];
  address.searchParams.set('options', options.join(' ').trim());
  return address.href;
}

/** Returns the SQL that begins a transaction. With a pooler it also sets the time limits, in the same message. */
export function beginText({ pooled, times = DATABASE_TIMES }: PostgresSettings): string {
  if (!pooled) return 'begin';
  return (
    `begin; set local idle_in_transaction_session_timeout = ${times.idleInTransactionMs}; ` +
    `set local lock_timeout = ${times.lockMs}; set local statement_timeout = ${times.statementMs}`
  );
}

/**
 * How PostgreSQL plans the request path's statements. The settings end with the transaction, so that they work through
 * a pooler too and do not affect lists and sweeps on the same connection.
 *
 * - `enable_seqscan`: all rows are found by an index. Otherwise a statement that a connection prepares while its table is
 *   small keeps a plan that reads the whole table until PostgreSQL first analyzes it: with 1 900 chats `update chats` took
 *   1.2 ms instead of 0.08 ms.
 * - `plan_cache_mode`: a connection plans each statement once, for all values. Otherwise it plans each of the first five
 *   calls, and gathered statements every time: the facts of admissions took 2 ms to plan and 0.2 ms to read.
 */
export const PLANNING: Readonly<Record<string, string>> = {
  enable_seqscan: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/** Sets `PLANNING` in the message that begins the transaction. */
export const SET_PLANNING = Object.entries(PLANNING)
  .map(([name, value]) => `set local ${name} = ${value}`)
  .join('; ');

/** Without listeners an `error` event ends the process. The caller that uses the lost connection gets the error anyway. */
export function ignoreErrorEvents(pool: Pool): void {
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
}
