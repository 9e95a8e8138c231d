import { hash } from 'node:crypto';
import { accessSync, constants, mkdirSync, rmSync, statfsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const MEMORY = '/dev/shm';
/** The gate uses less than 1 GiB. A container often's memory folder has only 64 MiB. */
const NEEDED_BYTES = 4 * 1024 ** 3;

function hasSpace(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
}

/**
 * From now on this process and its child processes put temporary files into memory, if there is enough of it. They are
 * deleted when this process exits. Measured in CPU time: copying a PostgreSQL database takes 10 ms instead of 100, starting
 * a server on SQLite 110 ms instead of 145.
 */
export function useMemoryFolder(): void {
  if (!hasSpace()) return;
  // The name is the same for every run, so that a run removes what a killed run left in memory.
  const folder = join(MEMORY, `runwire-gate-${hash('sha256', resolve('.')).slice(0, 12)}`);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  remove();
  // PostgreSQL runs as another user and has a folder inside.
  mkdirSync(folder, { mode: 0o711 });
  process.env.TMPDIR = folder;
  process.once('exit', remove);
}
