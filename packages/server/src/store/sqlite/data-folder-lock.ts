import { DatabaseSync } from 'node:sqlite';
import { StartRefused } from '../../domain/start-refused.ts';

const SQLITE_BUSY = 5;

/**
 * Locks the data folder for one process: an exclusive transaction on a separate database file. The kernel releases it
 * if the process dies. In this process only SQLite may open that file: closing any other descriptor of it would drop
 * the POSIX lock.
 */
export function lockDataFolder(path: string): Disposable {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('pragma journal_mode = delete; begin exclusive');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new StartRefused(
      'Another Runwire server uses this data folder; stop it, or set RUNWIRE_DATA_DIR to a folder of its own.',
    );
  }
  return { [Symbol.dispose]: () => database.close() };
}
