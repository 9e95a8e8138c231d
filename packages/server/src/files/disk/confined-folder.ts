import { type BigIntStats, constants, type Dirent } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { codeOf } from '../../storage/disk/as-unavailable.ts';
import type { HeldFolder, Reach } from './reach.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** One name in a folder; bytes where it may be no UTF-8. */
export type Name = string | Buffer;

/** No such name, or not of the kind that was asked for: a link (ELOOP), a socket (ENXIO), a file on the way (ENOTDIR). */
const NOT_THERE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

/**
 * A folder held open. All that is done in it is done to one name right in it, and no link is followed: whoever swaps
 * folders and links below it meanwhile leads nobody out. A step must be over before the folder is closed, for the
 * number of its handle is used again.
 */
export class ConfinedFolder implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #held: HeldFolder;
  readonly #reach: Reach;
  /** Of this folder and of no later one that has the same name or the same inode. */
  readonly identity: string;

  private constructor(handle: FileHandle, stats: BigIntStats, path: string, reach: Reach) {
    const { dev, ino, birthtimeNs } = stats;
    this.#handle = handle;
    this.#held = { fd: handle.fd, path, dev, ino };
    this.#reach = reach;
    this.identity = `${dev}:${ino}:${birthtimeNs}`;
  }

  /** The outermost folder: its path is trusted, and may have links. */
  static async open(path: string, reach: Reach): Promise<ConfinedFolder> {
    return ConfinedFolder.#hold(await open(path, O_RDONLY | O_DIRECTORY), path, reach);
  }

  static async #hold(handle: FileHandle, path: string, reach: Reach) {
    try {
      return new ConfinedFolder(handle, await handle.stat({ bigint: true }), path, reach);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  /** Makes the names in it durable. */
  async sync(): Promise<void> {
    await this.#handle.sync();
  }

  /** Null: there is no folder of that name. */
  async folder(name: Name): Promise<ConfinedFolder | null> {
    const handle = await unlessNotThere(this.#open(name, O_RDONLY | O_DIRECTORY));
    return handle && ConfinedFolder.#hold(handle, `${this.#held.path}/${name}`, this.#reach);
  }

  /** False: something of that name is there. */
  async makeFolder(name: string): Promise<boolean> {
    try {
      await this.#change(name, (path) => mkdir(path, { mode: 0o700 }));
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
  }

  /** Of whatever has that name, a link itself too. */
  async stat(name: Name): Promise<BigIntStats | null> {
    return unlessNotThere(this.#look(name, (path) => lstat(path, { bigint: true })));
  }

  /** To be read. Null: there is no regular file of that name; nothing else is waited for, and nothing else opened on purpose. */
  async file(name: Name): Promise<{ readonly handle: FileHandle; readonly stats: BigIntStats } | null> {
    if ((await this.stat(name))?.isFile() !== true) return null;
    const handle = await unlessNotThere(this.#open(name, O_RDONLY | O_NONBLOCK));
    if (handle === null) return null;
    try {
      const stats = await handle.stat({ bigint: true });
      if (stats.isFile()) return { handle, stats };
    } catch (error) {
      await handle.close();
      throw error;
    }
    await handle.close();
    return null;
  }

  /** To be written; rejects where something of that name is there. */
  async newFile(name: string): Promise<FileHandle> {
    await this.#reach.check(this.#held);
    return this.#open(name, O_WRONLY | O_CREAT | O_EXCL);
  }

  /** Names and kinds, as bytes: a name put there by hand need not be UTF-8. None, where it was removed meanwhile. */
  async entries(): Promise<Dirent<Buffer>[]> {
    const reading = this.#look('.', (path) => readdir(path, { withFileTypes: true, encoding: 'buffer' }));
    return (await unlessNotThere(reading)) ?? [];
  }

  /** False: it was not there. */
  async unlink(name: Name): Promise<boolean> {
    return (await unlessNotThere(this.#change(name, (path) => unlink(path).then(() => true)))) ?? false;
  }

  /** False: it was not there, was no folder, or was not empty. */
  async removeEmptyFolder(name: Name): Promise<boolean> {
    try {
      await this.#change(name, (path) => rmdir(path));
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOTEMPTY' || code === 'EEXIST' || NOT_THERE.has(code)) return false;
      throw error;
    }
  }

  async rename(name: Name, to: ConfinedFolder, newName: string): Promise<void> {
    await this.#change(name, (path) => to.#change(newName, (newPath) => rename(path, newPath)));
  }

  async #open(name: Name, flags: number): Promise<FileHandle> {
    const handle = await open(this.#pathOf(name), flags | this.#reach.openFlags, 0o600);
    try {
      await this.#reach.check(this.#held);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async #look<T>(name: Name, look: (path: Name) => Promise<T>): Promise<T> {
    const seen = await look(this.#pathOf(name));
    await this.#reach.check(this.#held);
    return seen;
  }

  async #change<T>(name: Name, change: (path: Name) => Promise<T>): Promise<T> {
    await this.#reach.check(this.#held);
    return change(this.#pathOf(name));
  }

  #pathOf(name: Name): Name {
    const folder = `${this.#reach.at(this.#held)}/`;
    return typeof name === 'string' ? folder + name : Buffer.concat([Buffer.from(folder), name]);
  }
}

async function unlessNotThere<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (NOT_THERE.has(codeOf(error))) return null;
    throw error;
  }
}
