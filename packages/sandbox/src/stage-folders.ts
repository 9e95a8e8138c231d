import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { chmod, lstat, opendir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxUser } from './sandbox.ts';
import { childPath } from './stage-path.ts';

const PREFIX = 'runwire-sandbox-';
const LOCK = 'lock.db';
/** A folder without a lock belongs to a process that needs it for seconds, or that died. */
const UNLOCKED_MS = 600_000;
const MAX_TRIES = 5;

/** Gets what could not be done. */
export interface StageLog {
  warn(about: object, sentence: string): void;
}

/** Locks a file until this process ends. Returns null if it is locked. */
export type LockFile = (path: string) => Disposable | null;

/** The root of the stages of this process. */
interface Root extends Disposable {
  readonly path: string;
}

/**
 * Folders in which the command files are staged. They are in the temporary folder of the machine and have random names:
 * a command can read its folder's path, and with its own user the sandbox cannot enter the data folder. A lock shows
 * other processes that this one lives; the kernel releases it if the process dies.
 */
export class StageFolders implements AsyncDisposable {
  readonly #owner: SandboxUser | null;
  readonly #lock: LockFile;
  readonly #logger: StageLog;
  #root: Root | null = null;

  constructor(owner: SandboxUser | null, lock: LockFile, logger: StageLog) {
    this.#owner = owner;
    this.#lock = lock;
    this.#logger = logger;
  }

  /** Makes an empty folder that the sandbox owns' user. */
  make(): string {
    const name = randomBytes(12).toString('hex');
    try {
      return this.#makeIn(this.#openRoot(), name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      // Systems delete old files in the temporary folder.
      this.#root?.[Symbol.dispose]();
      this.#root = null;
      return this.#makeIn(this.#openRoot(), name);
    }
  }

  #makeIn({ path: root }: Root, name: string): string {
    const path = join(root, name);
    mkdirSync(path, { mode: 0o700 });
    this.own(path);
    return path;
  }

  /** Gives a file or folder to the sandbox's user. */
  own(path: string): void {
    if (this.#owner !== null) chownSync(path, this.#owner.uid, this.#owner.gid);
  }

  #openRoot(): Root {
    this.#root ??= openRoot(this.#owner, this.#lock);
    return this.#root;
  }

  /** Never rejects: a folder that cannot be deleted is logged, and the next start tries again. */
  async remove(path: string): Promise<void> {
    await tryRemove(path, this.#logger);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const root = this.#root;
    this.#root = null;
    if (root === null) return;
    await tryRemove(root.path, this.#logger);
    root[Symbol.dispose]();
  }

  /** Deletes what processes that died left in the temporary folder. Resolves to the number of folders. */
  static async sweep(lock: LockFile, logger: StageLog): Promise<number> {
    let count = 0;
    for (const name of await readdir(tmpdir()).catch(() => [])) {
      if (!name.startsWith(PREFIX)) continue;
      const path = join(tmpdir(), name);
      if (!(await isLeft(path, lock).catch(() => false))) continue;
      if (await tryRemove(path, logger)) count += 1;
    }
    return count;
  }
}

function openRoot(owner: SandboxUser | null, lockFile: LockFile): Root {
  for (let tries = 1; ; tries += 1) {
    const path = mkdtempSync(join(tmpdir(), PREFIX));
    // The sandbox's user may pass through, and not list it.
    chmodSync(path, owner === null ? 0o700 : 0o711);
    const lock = lockFile(join(path, LOCK));
    if (lock !== null) return { path, [Symbol.dispose]: () => lock[Symbol.dispose]() };
    // A sweep of another process had the new file locked, and deletes the folder.
    if (tries >= MAX_TRIES) throw new Error(`No folder for commands can be made in ${tmpdir()}.`);
  }
}

/** True if no process uses the folder any more. False if it belongs to another user. */
async function isLeft(path: string, lockFile: LockFile): Promise<boolean> {
  const stats = await lstat(path);
  if (!stats.isDirectory() || stats.uid !== process.getuid?.()) return false;
  const lock = await lstat(join(path, LOCK)).catch(() => null);
  if (lock === null) return Date.now() - stats.mtimeMs > UNLOCKED_MS;
  if (!lock.isFile()) return false;
  const locked = lockFile(join(path, LOCK));
  locked?.[Symbol.dispose]();
  return locked !== null;
}

/** Resolves to false if the folder could not be deleted. */
async function tryRemove(path: string, logger: StageLog): Promise<boolean> {
  try {
    await removeFolder(path);
    return true;
  } catch (error) {
    logger.warn({ err: error, path }, 'the folder of a command could not be deleted');
    return false;
  }
}

/** A command may have made folders that their owner cannot enter. */
async function removeFolder(path: string): Promise<void> {
  if (await removeByProgram(path)) return;
  await openAll(path);
  if (!(await removeByProgram(path))) await rm(path, { recursive: true, force: true });
}

/** With 60 000 files `rm` of Node needs 2 s of CPU here, and all streams wait up to 0.8 s. A program delays none. Resolves to false if it failed. */
function removeByProgram(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const program = spawn('/bin/rm', ['-rf', '--', path], { stdio: 'ignore', env: {} });
    program.once('error', () => resolve(false));
    program.once('exit', (code) => resolve(code === 0));
  });
}

async function openAll(root: string): Promise<void> {
  const folders: Buffer[] = [Buffer.from(root)];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    await chmod(folder, 0o700);
    for await (const entry of await opendir(folder, { encoding: 'latin1' })) {
      if (entry.isDirectory()) folders.push(childPath(folder, entry.name));
    }
  }
}
