import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';

const EVERY_MS = 500;
const CHECKPOINT_AT_BYTES = 4 * 1024 * 1024;
/** Past this a checkpoint that never quite catches up with the writer is made to: it holds the writer for a moment. */
const RESTART_AT_BYTES = 64 * 1024 * 1024;

const { path } = workerData as { path: string };
const database = new DatabaseSync(path, { timeout: 200 });
database.exec('pragma synchronous = full');

function walBytes(): number {
  try {
    return statSync(`${path}-wal`).size;
  } catch {
    return 0;
  }
}

let rounds = 0;
setInterval(() => {
  const bytes = walBytes();
  // The file keeps its size when it is written from its start again: a round with nothing to do costs next to nothing.
  if (bytes < CHECKPOINT_AT_BYTES) return;
  rounds += 1;
  try {
    const mode = bytes > RESTART_AT_BYTES && rounds % 10 === 0 ? 'truncate' : 'passive';
    database.prepare(`pragma wal_checkpoint(${mode})`).all();
  } catch {
    // Busy: the next round tries again.
  }
}, EVERY_MS);
