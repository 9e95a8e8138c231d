import { DatabaseError } from 'pg';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import { UniqueViolation } from '../store.ts';

/** PostgreSQL's classes of errors by which nothing is wrong with what was asked: it may be asked again. */
const AWAY_CLASSES = ['08', '40', '53', '55', '57', '58'];
/** It takes only reads for now: a replica that is about to lead, or a disk that its keeper wants to save. */
const READ_ONLY = '25006';
const UNIQUE_VIOLATION = '23505';
const REPEATED = ['40001', '40P01'];

/** A lost race with another transaction: the whole transaction is repeated from its start. */
export class Repeatable extends StoreUnavailable {}

/** The connection is of no more use: what happened to the last thing asked over it is not known. */
export class ConnectionLost extends StoreUnavailable {}

function codeOf(error: unknown): string | null {
  return error instanceof DatabaseError && typeof error.code === 'string' ? error.code : null;
}

/** Whether the server itself said no, and so did not do it. One that is going down may have. */
export function wasRefused(error: unknown): boolean {
  const code = codeOf(error);
  return code !== null && !['08', '57', '58', 'XX'].includes(code.slice(0, 2));
}

/**
 * Foreign errors end here. What they carry is not kept but for code and sentence: the pool's errors hold their
 * connection, which holds the password, and an error's detail holds what somebody said.
 */
export function translate(error: unknown): unknown {
  if (error instanceof StoreUnavailable || error instanceof UniqueViolation) return error;
  const code = codeOf(error);
  const sentence = error instanceof Error ? error.message : String(error);
  if (code === null) return isOurs(error) ? error : new ConnectionLost(`The database is away: ${sentence}.`);
  if (code === UNIQUE_VIOLATION) return new UniqueViolation(sentence);
  if (REPEATED.includes(code)) return new Repeatable(`${sentence} (${code}).`);
  // The server ends the connection with these.
  if (/^57P0[1-5]|^08|^25P03/.test(code)) return new ConnectionLost(`The database is away: ${sentence} (${code}).`);
  if (code === READ_ONLY || AWAY_CLASSES.includes(code.slice(0, 2))) {
    return new StoreUnavailable(`The database: ${sentence} (${code}).`);
  }
  return new StatementRefused(`${sentence} (${code})`);
}

/** The database does not take what it was given. */
export class StatementRefused extends Error {
  override readonly name = 'StatementRefused';
}

/** Not of the driver or the socket: a refusal or a fault of the transaction's own. */
function isOurs(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return !(syscall !== undefined || (code !== undefined && SOCKET_CODES.test(code)) || DRIVER.test(error.message));
}

const SOCKET_CODES = /^(E[A-Z]+|ERR_(SSL|TLS|SOCKET|STREAM)_.*|SELF_SIGNED.*|DEPTH_.*|UNABLE_.*|CERT_.*)$/;
/** Errors of the driver and of Kysely's migrator have no code. They are recognised by their text; the versions are pinned. */
const DRIVER =
  /^(Postgres connection has been discarded|Connection terminated|timeout expired|timeout exceeded|Query read timeout|Client (has encountered|was closed)|Cannot use a pool|The server does not support SSL|SASL|write after end|This socket)/;
