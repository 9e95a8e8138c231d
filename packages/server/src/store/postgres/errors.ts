import { DatabaseError } from 'pg';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import { UniqueViolation } from '../store.ts';

/** Classes of PostgreSQL errors that are no fault of the statement: the caller may retry. */
const AWAY_CLASSES = ['08', '40', '53', '55', '57', '58'];
/**
 * The database accepts only reads for now: it is a replica that is about to become primary, or its operator protects a
 * full disk.
 */
const READ_ONLY = '25006';
const UNIQUE_VIOLATION = '23505';
const REPEATED = ['40001', '40P01'];
const LOCK_TIMEOUT = '55P03';
const CHECK_VIOLATION = '23514';

/** The transaction lost a race with another one. It is repeated from its start. */
export class LostRace extends StoreUnavailable {}

/** The connection cannot be used any more. Its last statement's outcome is unknown. */
export class ConnectionLost extends StoreUnavailable {}

function getCode(error: unknown): string | null {
  return error instanceof DatabaseError && typeof error.code === 'string' ? error.code : null;
}

/**
 * True if the server refused the statement and therefore did not execute it. A server that is shutting down may have
 * executed it.
 */
export function wasRefused(error: unknown): boolean {
  const code = getCode(error);
  return code !== null && !['08', '57', '58', 'XX'].includes(code.slice(0, 2));
}

/** True if the statement waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return getCode(error) === LOCK_TIMEOUT;
}

/**
 * True if a partition was added for the row after PostgreSQL had decided to store it in the last partition. If the
 * transaction is repeated, the row is stored in the new one.
 */
function lostPartition(error: unknown): boolean {
  return getCode(error) === CHECK_VIOLATION && (error as DatabaseError).table === 'event_chunks_other';
}

/**
 * Turns errors of the driver into errors of the store port. Only code and message are kept: the pool's errors refer to
 * their connection, which contains the password, and an error's detail contains values of users.
 */
export function translate(error: unknown): unknown {
  if (error instanceof StoreUnavailable || error instanceof UniqueViolation) return error;
  const code = getCode(error);
  const sentence = error instanceof Error ? error.message : String(error);
  if (code === null) return isOurs(error) ? error : new ConnectionLost(`The database is not available: ${sentence}.`);
  if (code === UNIQUE_VIOLATION) return new UniqueViolation(sentence);
  if (REPEATED.includes(code) || lostPartition(error)) return new LostRace(`${sentence} (${code}).`);
  // The server closes the connection after these errors.
  if (/^57P0[1-5]|^08|^25P03/.test(code))
    return new ConnectionLost(`The database is not available: ${sentence} (${code}).`);
  if (code === READ_ONLY || AWAY_CLASSES.includes(code.slice(0, 2))) {
    return new StoreUnavailable(`The database: ${sentence} (${code}).`);
  }
  return new StatementRefused(`${sentence} (${code})`);
}

/** The database refused a statement or its values. */
export class StatementRefused extends Error {
  override readonly name = 'StatementRefused';
}

/** True if the error was thrown by our own transaction, and not by the driver or the socket. */
function isOurs(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return !(syscall !== undefined || (code !== undefined && SOCKET_CODES.test(code)) || DRIVER.test(error.message));
}

const SOCKET_CODES = /^(E[A-Z]+|ERR_(SSL|TLS|SOCKET|STREAM)_.*|SELF_SIGNED.*|DEPTH_.*|UNABLE_.*|CERT_.*)$/;
/** Errors of the driver and of Kysely's migrator have no code. They are recognised by their text; the versions are pinned. */
const DRIVER =
  /^(Postgres connection has been discarded|Connection terminated|timeout expired|timeout exceeded|Query read timeout|Client (has encountered|was closed)|Cannot use a pool|The server does not support SSL|SASL|write after end|This socket)/;
