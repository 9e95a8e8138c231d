import pg, { type ClientConfig, type Pool } from 'pg';
import { GatheringSocket } from './gathering-socket.ts';

/** How the database is reached; `url` holds its password. */
export interface PostgresSettings {
  readonly url: string;
  /** Connections besides the writer's. */
  readonly pool: number;
  /** Behind a pooler in transaction mode: no prepared statements, and no settings that outlive a transaction. */
  readonly pooled: boolean;
}

const IDLE_IN_TRANSACTION_MS = 3000;
const LOCK_MS = 2000;
const STATEMENT_MS = 5000;
/** Longer than the server waits: this is for a server that says nothing any more. */
const ANSWER_MS = 8000;
export const CONNECT_MS = 5000;

const INT8 = 20;
const NUMERIC = 1700;

/** 64-bit integers as numbers; one that a number cannot hold is an error, never a wrong number. */
function integer(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`The integer ${text} is beyond what a number holds exactly.`);
  return value;
}

const types = {
  getTypeParser(id: number, format?: 'text' | 'binary') {
    // Sums of 64-bit integers are numeric.
    if (format !== 'binary' && (id === INT8 || id === NUMERIC)) return integer;
    return pg.types.getTypeParser(id, format);
  },
} as NonNullable<ClientConfig['types']>;

/** Every connection but those of migrations: whoever stands still inside a transaction must not hold up others. */
export function sessionConfig({ url, pooled }: PostgresSettings): ClientConfig {
  const stream = () => new GatheringSocket();
  const bare: ClientConfig = { ...plainConfig(url), query_timeout: ANSWER_MS, pipeline: true, stream };
  if (pooled) return bare;
  return {
    ...bare,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    lock_timeout: LOCK_MS,
    statement_timeout: STATEMENT_MS,
  };
}

/** Without limits of time: a migration may take long. */
export function plainConfig(url: string): ClientConfig {
  return {
    connectionString: url,
    types,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    fallback_application_name: 'runwire',
  };
}

/** What begins a transaction. Behind a pooler the limits are part of it, in the same message. */
export function beginText({ pooled }: PostgresSettings): string {
  if (!pooled) return 'begin';
  return (
    `begin; set local idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}; ` +
    `set local lock_timeout = ${LOCK_MS}; set local statement_timeout = ${STATEMENT_MS}`
  );
}

/** Without listeners an `error` event ends the process. The caller that uses the lost connection gets the error anyway. */
export function ignoreErrorEvents(pool: Pool): void {
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
}
