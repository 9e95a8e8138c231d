import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

const ONE_BLOCK = 512;
/** How many entries are read together. */
const BATCH = 256;

/**
 * True if a folder has more entries or uses more of the disk than allowed, or if a part of it cannot be read. Stops
 * there, so that a command cannot make the server read without end.
 */
export async function exceedsFolder(root: string, limits: { folderEntries: number; folderBytes: number }) {
  let entries = 0;
  let bytes = 0;
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      const files: string[] = [];
      for await (const entry of await opendir(folder, { bufferSize: BATCH })) {
        entries += 1;
        if (entries > limits.folderEntries) return true;
        (entry.isDirectory() ? folders : files).push(join(folder, entry.name));
      }
      for (let at = 0; at < files.length; at += BATCH) {
        for (const blocks of await Promise.all(files.slice(at, at + BATCH).map(sizeOf))) bytes += blocks * ONE_BLOCK;
        if (bytes > limits.folderBytes) return true;
      }
    } catch (error) {
      // The command may delete or replace a folder while it is read.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') return true;
    }
  }
  return false;
}

/** Resolves to blocks of the disk, because a sparse file uses less than its size. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).blocks;
  } catch {
    return 0;
  }
}
