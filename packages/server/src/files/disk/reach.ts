import { constants, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';

/** A folder that is held open, and where it was found. */
export interface HeldFolder {
  readonly fd: number;
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

/** How the names in a folder are reached without leaving it. */
export interface Reach {
  /** Of every open below the outermost folder. */
  readonly openFlags: number;
  /** What stands before `/name`. */
  at(folder: HeldFolder): string;
  /** Before each change and after each look: rejects where the folder is not where it was found. */
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
 * By its path, with a look whether it still leads to the folder that is held: for systems without `/proc`, as macOS. Links
 * are not followed, but a swap between the look and the step, or a swap and a swap back, are not seen.
 */
export const byPath: Reach = {
  openFlags: constants.O_NOFOLLOW,
  at: ({ path }) => path,
  check: async (folder) => {
    const { dev, ino } = await stat(folder.path, { bigint: true });
    if (dev !== folder.dev || ino !== folder.ino) throw new FolderSwapped(`${folder.path} was replaced meanwhile.`);
  },
};

/** As if it had never been there: what was looked for is not at that place any more. */
class FolderSwapped extends Error {
  override readonly name = 'FolderSwapped';
  readonly code = 'ENOENT';
}

export const surestReach = (): Reach => (existsSync('/proc/self/fd') ? byHandle : byPath);
