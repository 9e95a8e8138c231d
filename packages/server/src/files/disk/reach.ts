import { constants, existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';

/** A folder that is held open, where it was found, and in which one. */
export interface HeldFolder {
  readonly fd: number;
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Null: the outermost, which is trusted. */
  readonly parent: HeldFolder | null;
}

/** How the names in a folder are reached without leaving it. */
export interface Reach {
  /** Of every open below the outermost folder. */
  readonly openFlags: number;
  /** What stands before `/name`. */
  at(folder: HeldFolder): string;
  /** Before and after each step: rejects where the folder is not where it was found. */
  check(folder: HeldFolder): Promise<void>;
}

/**
 * By the handle of the folder, which stays what it is whatever becomes of its name: the kernel goes from the handle to the
 * next name and no further. Node has no `openat`; `/proc/self/fd/<n>/<name>` is the same step.
 */
export const byHandle: Reach = {
  openFlags: constants.O_NOFOLLOW,
  at: ({ fd }) => `/proc/self/fd/${fd}`,
  check: async () => {},
};

/**
 * By its path, with a look at every folder on it before and after: for systems without `/proc`, as macOS. Links are not
 * followed, but a swap and a swap back between two looks are not seen.
 */
export const byPath: Reach = {
  openFlags: constants.O_NOFOLLOW,
  at: ({ path }) => path,
  check: async (folder) => {
    for (let one = folder; one.parent !== null; one = one.parent) {
      const { dev, ino } = await lstat(one.path, { bigint: true });
      if (dev !== one.dev || ino !== one.ino) throw new FolderSwapped(`${one.path} was replaced meanwhile.`);
    }
  },
};

/** As if it had never been there: what was looked for is not at that place any more. */
class FolderSwapped extends Error {
  override readonly name = 'FolderSwapped';
  readonly code = 'ENOENT';
}

export const surestReach = (): Reach => (existsSync('/proc/self/fd') ? byHandle : byPath);
