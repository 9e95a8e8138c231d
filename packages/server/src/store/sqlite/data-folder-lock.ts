import { DatabaseSync } from 'node:sqlite';
import { StartRefused } from '../../domain/start-refused.ts';

const SQLITE_BUSY = 5;

/**
 * Locks a file for one process: an exclusive transaction on a separate database file. The kernel releases it if the
 * process dies. In this process only SQLite may open that file: closing any other descriptor of it would drop the POSIX
 * lock. Returns null if another process, or another part of this one, has locked it.
 */
export function lockFile(path: string): Disposable | null {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('pragma journal_mode = delete; begin exclusive');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    return null;
  }
  return { [Symbol.dispose]: () => database.close() };
}

/** Locks the data folder for one process. */
export function lockDataFolder(path: string): Disposable {
  const lock = lockFile(path);
  if (lock !== null) return lock;
  throw new StartRefused(
    'Another Runwire server uses this data folder; stop it, or set RUNWIRE_DATA_DIR to a folder of its own.',
  );
}
