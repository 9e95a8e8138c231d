import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { SettingRefused } from './config.ts';

export interface DataFolder {
  readonly database: string;
  readonly lock: string;
  readonly secretFile: string;
  /** The bytes of attachments and files. */
  readonly blobs: string;
  /** The files of earlier versions. */
  readonly mounts: string;
  /** Uploads on their way to S3. */
  readonly spools: string;
  /** This file exists if the installation was migrated to PostgreSQL. */
  readonly movedMark: string;
}

export function dataFolder(dataDir: string): DataFolder {
  return {
    database: join(dataDir, 'runwire.db'),
    lock: join(dataDir, 'lock.db'),
    secretFile: join(dataDir, 'secret'),
    blobs: join(dataDir, 'blobs'),
    mounts: join(dataDir, 'mounts'),
    spools: join(dataDir, 'spools'),
    movedMark: join(dataDir, 'moved-to-postgres'),
  };
}

export function makeDataFolder(dataDir: string): DataFolder {
  try {
    makeFolder(dataDir);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingRefused(
      `The data folder cannot be created (${reason}); set RUNWIRE_DATA_DIR to a folder that this user can create.`,
      {
        cause: error,
      },
    );
  }
  const folder = dataFolder(dataDir);
  for (const path of [folder.database, `${folder.database}-wal`, `${folder.database}-shm`, folder.lock]) {
    makePrivate(path);
  }
  return folder;
}

/**
 * Versions without a umask left databases that others can read, and SQLite gives new files the database's mode. A
 * file of another user keeps its mode: only its owner may change it.
 */
function makePrivate(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

/** Does not use `recursive`: it never returns if a parent accepts no folders, as /proc does. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/**
 * Returns the secret that signs keys, and makes the file first if there is none. The write is atomic, and only the owner
 * can read the file. Processes that make it concurrently get the same secret.
 */
export function keepSecret(path: string): string {
  const read = () => {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      const reason = error instanceof Error ? error.message : String(error);
      throw new SettingRefused(
        `The installation's secret cannot be read (${reason}); fix that, or set RUNWIRE_SECRET.`,
      );
    }
  };
  const kept = read();
  if (kept !== null) {
    if (kept.length >= 32) return kept;
    throw new SettingRefused(`The file ${path} is damaged; restore it from a backup, or set RUNWIRE_SECRET.`);
  }
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, `${randomBytes(48).toString('base64url')}\n`, { flag: 'wx', mode: 0o600, flush: true });
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
  return keepSecret(path);
}
