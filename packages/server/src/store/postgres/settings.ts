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
export function sessionConfig({ url, pooled, times = DATABASE_TIMES }: PostgresSettings): ClientConfig {
  const stream = () => new GatheringSocket();
  const bare: ClientConfig = { ...plainConfig(url), query_timeout: times.answerMs, pipeline: true, stream };
  if (pooled) return bare;
  return {
    ...bare,
    idle_in_transaction_session_timeout: times.idleInTransactionMs,
    lock_timeout: times.lockMs,
    statement_timeout: times.statementMs,
  };
}

/** Without time limits, because a migration can take long. */
export function plainConfig(url: string): ClientConfig {
  return {
    connectionString: url,
    types,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    fallback_application_name: 'runwire',
  };
}

/** Returns the SQL that begins a transaction. With a pooler it also sets the time limits, in the same message. */
export function beginText({ pooled, times = DATABASE_TIMES }: PostgresSettings): string {
  if (!pooled) return 'begin';
  return (
    `begin; set local idle_in_transaction_session_timeout = ${times.idleInTransactionMs}; ` +
    `set local lock_timeout = ${times.lockMs}; set local statement_timeout = ${times.statementMs}`
  );
}

/** Without listeners an `error` event ends the process. The caller that uses the lost connection gets the error anyway. */
export function ignoreErrorEvents(pool: Pool): void {
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
}
