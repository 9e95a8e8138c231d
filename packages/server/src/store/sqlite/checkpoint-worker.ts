import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** Null if the checkpoint was made, or left to a later one; otherwise why it failed. */
export type CheckpointOutcome = { readonly message: string; readonly errcode: number } | null;

const SQLITE_BUSY = 5;

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
    const { errcode = 0, message } = error as { errcode?: number; message: string };
    return errcode % 256 === SQLITE_BUSY ? null : { message, errcode };
  }
}

parentPort?.on('message', () => parentPort?.postMessage(copy()));
