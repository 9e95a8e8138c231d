import { lstatSync, readdirSync } from 'node:fs';

const MIB = 1024 * 1024;
/** More entries would block the process that measures. */
const MOST_ENTRIES = 500;

/** Returns the disk that the files below a folder use, and the largest's size. The names need not be UTF-8. */
export function getDisk(root: string): { readonly mib: number; readonly largest: number } {
  let [entries, blocks, largest] = [0, 0, 0];
  const folders = [Buffer.from(root)];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of namesIn(folder)) {
      entries += 1;
      if (entries > MOST_ENTRIES) break;
      const path = Buffer.concat([folder, Buffer.from('/'), name]);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isDirectory()) folders.push(path);
      if (!stats?.isFile()) continue;
      blocks += stats.blocks;
      largest = Math.max(largest, stats.size);
    }
  }
  return { mib: (blocks * 512) / MIB, largest };
}

/** Returns nothing if the folder was renamed or deleted. */
function namesIn(folder: Buffer): readonly Buffer[] {
  try {
    return readdirSync(folder, { encoding: 'buffer' });
  } catch {
    return [];
  }
}
