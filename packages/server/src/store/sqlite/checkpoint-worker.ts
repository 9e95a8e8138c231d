import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { ScrubDepth } from '../store.ts';

/** Null if the work was done, or left to a later one; otherwise why it failed. */
export type CheckpointOutcome = { readonly message: string; readonly errcode: number } | null;

/** `copy` copies the log into the database. `log` also empties it. `file` rewrites the database and empties the log. */
export type CheckpointRequest = 'copy' | ScrubDepth;

const SQLITE_BUSY = 5;
/** How long a scrub waits for the transaction or the read that is under way. */
const SCRUB_WAIT_MS = 5000;

const { path } = workerData as { path: string };
const database = new DatabaseSync(path, { timeout: 0 });
database.exec('pragma synchronous = full');
// Passive: it waits for no other connection and blocks none.
const checkpoint = database.prepare('pragma wal_checkpoint(passive)');

function copy(): CheckpointOutcome {
  try {
    checkpoint.all();
    return null;
  } catch (error) {
    const failure = toFailure(error);
    return failure.errcode % 256 === SQLITE_BUSY ? null : failure;
  }
}

/**
 * `vacuum` writes every row into a new database, and the old bytes are overwritten or cut off: rows that were deleted or
 * changed long ago, and copies of rows in the unused part of pages. `secure_delete` does not reach those copies, which
 * remain when a page is split.
 */
function scrub(depth: ScrubDepth): CheckpointOutcome {
  try {
    database.exec(`pragma busy_timeout = ${SCRUB_WAIT_MS}`);
    // The temporary copy is as large as the database, so it is made on the same disk. SQLite unlinks it immediately.
    database.exec(`pragma temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`);
    // If a reader, such as a backup, keeps the log from being emptied, the long work would be for nothing.
    if (!emptyLog()) return READER;
    if (depth === 'log') return null;
    database.exec('vacuum');
    return emptyLog() ? null : READER;
  } catch (error) {
    return toFailure(error);
  } finally {
    database.exec('pragma busy_timeout = 0');
  }
}

const READER = { message: 'A reader kept the log from being emptied.', errcode: SQLITE_BUSY };

const emptyLog = () => database.prepare('pragma wal_checkpoint(truncate)').all()[0]?.busy === 0;

function toFailure(error: unknown): NonNullable<CheckpointOutcome> {
  const { errcode = 0, message } = error as { errcode?: number; message: string };
  return { message, errcode };
}

parentPort?.on('message', (request: CheckpointRequest) =>
  parentPort?.postMessage(request === 'copy' ? copy() : scrub(request)),
);
