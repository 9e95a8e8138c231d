import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** Copies the write-ahead log into the database when it is told to, and says when it has. */
const { path } = workerData as { path: string };
const database = new DatabaseSync(path, { timeout: 0 });
database.exec('pragma synchronous = full');
// Passive: it waits for nobody and holds nobody up.
const checkpoint = database.prepare('pragma wal_checkpoint(passive)');

parentPort?.on('message', () => {
  try {
    checkpoint.all();
  } finally {
    parentPort?.postMessage('copied');
  }
});
