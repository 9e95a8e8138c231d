import { constants, type Stats } from 'node:fs';
import { chmod, lstat, open, opendir, readdir, readlink, stat, statfs } from 'node:fs/promises';
import { childPath, isDenied } from './stage-path.ts';

const ONE_BLOCK = 512;
/** How many entries are read together. */
const BATCH = 256;
/** How many folders one look lists again, because an entry was renamed or deleted before it could be read. */
const MAX_REPEATS = 100;
/** How many descriptors one look reads, so that processes with many of them cannot keep the server busy. */
const MAX_DESCRIPTORS = 20_000;
/** `O_PATH` of Linux, which Node does not name: opens a folder without any right to it. */
const O_PATH = 0o10000000;

export interface FolderLimits {
  readonly folderEntries: number;
  readonly folderBytes: number;
}

/**
 * True if a folder has more entries or uses more of the disk than allowed, or if a part of it cannot be read. Stops
 * there, so that a command cannot make the server read without end. Deleted files that the processes keep open use the
 * disk too, and count; `processes` are folders of `/proc`.
 */
export async function exceedsFolder(
  root: string,
  limits: FolderLimits,
  processes: readonly string[] = [],
): Promise<boolean> {
  const look = new FolderLook(root, limits);
  return (await look.read(Buffer.from(root))) === 'exceeded' || (await look.readOpenFiles(processes)) === 'exceeded';
}

/** A command ends if less of its disk is free, or less than this part of it. */
const LEAST_FREE = { bytes: 256 * 1024 * 1024, part: 1 / 20 };

/**
 * True if a folder's disk is nearly full. A command can fill it with bytes that no look finds: in deleted files that it
 * has only mapped into memory, or sent to a socket.
 */
export async function isDiskFull(folder: string): Promise<boolean> {
  const disk = await statfs(folder).catch(() => null);
  if (disk === null) return false;
  const { bavail, blocks, bsize } = disk;
  return bavail * bsize < Math.min(LEAST_FREE.bytes, blocks * bsize * LEAST_FREE.part);
}

/** `gone`: the folder, or an entry of it, was renamed or deleted before it could be read. */
type Outcome = 'read' | 'gone' | 'exceeded';

/**
 * One look at a folder that a command changes. Files and folders are known by their inodes, so that a file counts once if
 * it is renamed during the look.
 */
class FolderLook {
  readonly #root: string;
  readonly #limits: FolderLimits;
  readonly #folders = new Set<number>();
  readonly #files = new Map<number, number>();
  #entries = 0;
  #bytes = 0;
  #repeats = 0;

  constructor(root: string, limits: FolderLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  /**
   * Lists the folder again while entries are gone that it had: a process could hide everything below a folder that it
   * renames without end. A process that deletes entries is not ended, because the next list does not have them.
   */
  async read(folder: Buffer): Promise<Outcome> {
    const known = new Set<string>();
    for (let listed = 0; this.#repeats <= MAX_REPEATS; this.#repeats += 1) {
      try {
        const names = await this.#list(folder, listed);
        if (names === null) return 'exceeded';
        listed = names.length;
        const outcome = await this.#readEntries(folder, names, known);
        if (outcome !== 'gone') return outcome;
      } catch (error) {
        if (isGone(error)) return 'gone';
        if (!isDenied(error)) return 'exceeded';
        const allowed = await this.#allow(folder);
        if (allowed !== 'read') return allowed;
      }
    }
    return 'exceeded';
  }

  /** Resolves to null if there are too many entries. `before` entries of this folder are counted already. */
  async #list(folder: Buffer, before: number): Promise<readonly string[] | null> {
    const names: string[] = [];
    const room = this.#limits.folderEntries - this.#entries + before;
    // Names need not be UTF-8. Latin-1 keeps all their bytes.
    for await (const { name } of await opendir(folder, { bufferSize: BATCH, encoding: 'latin1' })) {
      names.push(name);
      if (names.length > room) return null;
    }
    this.#entries += names.length - before;
    return names;
  }

  async #readEntries(folder: Buffer, names: readonly string[], known: Set<string>): Promise<Outcome> {
    const fresh = names.filter((name) => !known.has(name));
    let isWhole = true;
    for (let at = 0; at < fresh.length; at += BATCH) {
      const batch = fresh.slice(at, at + BATCH).map((name) => ({ name, path: childPath(folder, name) }));
      const all = await Promise.all(batch.map(({ path }) => getStats(path)));
      for (const [index, { name, path }] of batch.entries()) {
        const outcome = await this.#readEntry(path, all[index] ?? null);
        if (outcome === 'exceeded') return outcome;
        if (outcome === 'read') known.add(name);
        else isWhole = false;
      }
    }
    return isWhole ? 'read' : 'gone';
  }

  /** Counts the deleted files of the same disk that processes keep open. */
  async readOpenFiles(processes: readonly string[]): Promise<Outcome> {
    const root = await stat(this.#root).catch(() => null);
    if (root === null) return 'gone';
    for (const folder of processes) {
      // The process has ended, or this user may not look into it.
      const descriptors = await readdir(`${folder}/fd`).catch(() => []);
      this.#entries += descriptors.length;
      if (this.#entries > this.#limits.folderEntries + MAX_DESCRIPTORS) return 'exceeded';
      const all = await Promise.all(descriptors.map((name) => stat(`${folder}/fd/${name}`).catch(() => null)));
      for (const file of all) {
        if (file === null || file.dev !== root.dev || file.nlink > 0) continue;
        if (this.#addFile(file) === 'exceeded') return 'exceeded';
      }
    }
    return 'read';
  }

  async #readEntry(path: Buffer, stats: Stats | null): Promise<Outcome> {
    if (stats === null) return 'gone';
    if (stats.isDirectory()) {
      const outcome = this.#folders.has(stats.ino) ? 'read' : await this.read(path);
      if (outcome === 'read') this.#folders.add(stats.ino);
      return outcome;
    }
    return this.#addFile(stats);
  }

  #addFile(stats: Stats): Outcome {
    // Blocks of the disk, because a sparse file uses less than its size.
    const bytes = stats.blocks * ONE_BLOCK;
    const before = this.#files.get(stats.ino) ?? 0;
    this.#files.set(stats.ino, Math.max(bytes, before));
    this.#bytes += Math.max(0, bytes - before);
    return this.#bytes > this.#limits.folderBytes ? 'exceeded' : 'read';
  }

  /**
   * Gives a folder's owner its rights back, which the command took away. The command runs and may replace the folder
   * by a link, so the rights are those of an opened folder, which is below the root.
   */
  async #allow(folder: Buffer): Promise<Outcome> {
    try {
      await using opened = await open(folder, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      await using root = await open(this.#root, O_PATH | constants.O_DIRECTORY);
      const [path, above] = await Promise.all(
        [opened, root].map(({ fd }) => readlink(`/proc/self/fd/${fd}`, 'latin1')),
      );
      if (path !== above && !path?.startsWith(`${above}/`)) return 'gone';
      await chmod(`/proc/self/fd/${opened.fd}`, 0o700);
      return 'read';
    } catch (error) {
      // The folder above it is listed again, and gets its own rights back.
      return isGone(error) || isDenied(error) ? 'gone' : 'exceeded';
    }
  }
}

const isGone = (error: unknown) => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Resolves to null if the entry does not exist any more. */
async function getStats(path: Buffer): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}
