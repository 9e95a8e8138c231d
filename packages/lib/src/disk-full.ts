import { statfsSync } from 'node:fs';

const NO_SPACE: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
const SQLITE_FULL = 13;
/** SQLITE_IOERR_SHMSIZE: SQLite found no space for the index of its write-ahead log. */
const SQLITE_IOERR_SHMSIZE = 4874;

/** True if the error, or an error that caused it, reports that a disk has no space left. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (NO_SPACE.has(code) || errcode === SQLITE_FULL || errcode === SQLITE_IOERR_SHMSIZE) return true;
  return isDiskFull(error.cause);
}

/** A disk with less free space counts as full: a commit needs some for itself, its index and one or two files. */
const MIN_FREE_BYTES = 1024 * 1024;

/** True also if the system does not report the free space: then a write shows whether it fails. */
export function hasDiskSpace(folder: string): boolean {
  try {
    const { blocks, bavail, bsize } = statfsSync(folder);
    // A file system without a size, such as a tmpfs without a limit, reports 0 blocks.
    return blocks === 0 || bavail * bsize >= MIN_FREE_BYTES;
  } catch {
    return true;
  }
}
