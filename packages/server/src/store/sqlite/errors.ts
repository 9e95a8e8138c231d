import { isDiskFull } from '@runwire/lib/disk-full.ts';
import { DiskFull, StoreUnavailable } from '../../domain/unavailable.ts';
import { UniqueViolation } from '../store.ts';

const SQLITE_IOERR = 10;
const SQLITE_IOERR_FSYNC = 1034;
const SQLITE_IOERR_DIR_FSYNC = 1290;
const SQLITE_CONSTRAINT_UNIQUE = 2067;
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;

function errorCode(error: unknown): number {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code : 0;
}

/** Turns errors of SQLite into errors of the store port. */
export function translate(error: unknown): unknown {
  const code = errorCode(error);
  if (code === SQLITE_CONSTRAINT_UNIQUE || code === SQLITE_CONSTRAINT_PRIMARYKEY) {
    return new UniqueViolation((error as Error).message, { cause: error });
  }
  return isDiskFull(error) || code % 256 === SQLITE_IOERR ? unavailable(error) : error;
}

export function unavailable(error: unknown): StoreUnavailable {
  if (isDiskFull(error)) return new DiskFull(error);
  return new StoreUnavailable('The store cannot be read or written now.', { cause: error });
}

/** True if the system could not sync the write-ahead log. What is on the disk is unknown then. */
export function isFailedSync(error: unknown): boolean {
  const code = errorCode(error);
  return code === SQLITE_IOERR_FSYNC || code === SQLITE_IOERR_DIR_FSYNC;
}
