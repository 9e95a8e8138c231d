import { constants, type Stats } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mapConcurrently } from '@runwire/lib/map-concurrently.ts';
import { childPath, type FolderLimits, isDenied, type StageFolders } from '@runwire/sandbox';
import type { OmittedEntry } from '../agent/workspace-port.ts';
import { checkFilePath, type MountPath, startOfPath, wholePath } from '../domain/file/mount-path.ts';
import type { Files, StoredFile } from '../files/files.ts';

const CONCURRENT_COPIES = 8;

/** A regular file of a stage that can become a file of the mount. */
export interface StageFile {
  readonly path: MountPath;
  readonly size: number;
  /** The caller closes it. */
  readonly open: () => Promise<FileHandle>;
}

export interface StageContent {
  readonly files: readonly StageFile[];
  readonly leftOut: readonly OmittedEntry[];
  /** False if the stage has more entries or bytes than allowed. The lists are not complete then. */
  readonly isWithinLimits: boolean;
}

/** Makes a stage with these files, and with the folder in which the command starts. */
export async function fillStage(
  folders: StageFolders,
  files: Pick<Files, 'open'>,
  { root, workingFolder, staged }: { root: string; workingFolder: MountPath; staged: readonly StoredFile[] },
  signal: AbortSignal,
): Promise<void> {
  const made = new Map<string, Promise<void>>();
  const makeFolder = (path: string): Promise<void> => {
    if (path === '' || path === '.') return Promise.resolve();
    let making = made.get(path);
    if (making === undefined) {
      making = makeFolder(dirname(path)).then(async () => {
        await mkdir(join(root, path), { mode: 0o700 });
        folders.own(join(root, path));
      });
      made.set(path, making);
    }
    return making;
  };
  await makeFolder(workingFolder);
  await mapConcurrently(CONCURRENT_COPIES, staged, signal, async (file, stop) => {
    stop.throwIfAborted();
    await makeFolder(dirname(file.path));
    const path = join(root, file.path);
    await using opened = await files.open(file);
    await writeFile(path, opened.bytes, { flag: 'wx', mode: 0o600, signal: stop });
    folders.own(path);
  });
}

/**
 * Finds what a command left in its folder. Links are not followed. No process of the command exists any more, so nothing
 * changes during the walk.
 */
export async function findFiles(root: string, workingFolder: MountPath, limits: FolderLimits): Promise<StageContent> {
  const files: StageFile[] = [];
  const leftOut: OmittedEntry[] = [];
  const replaced = await replacedFolder(root, workingFolder);
  if (replaced !== null) {
    leftOut.push({ path: wholePath(replaced), reason: 'is not a folder any more' });
    return { files, leftOut, isWithinLimits: true };
  }
  let entries = 0;
  let size = 0;
  // The whole path is null if the folder's name, or of one above it, is not UTF-8. What is in it only counts.
  const folders: { bytes: Buffer; path: string | null }[] = [
    { bytes: Buffer.from(join(root, workingFolder)), path: wholePath(workingFolder) },
  ];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const { bytes: above, path } = folder;
    for (const name of await withRights(above, 0o700, () => readdir(above, { encoding: 'latin1' }))) {
      const bytes = childPath(above, name);
      const stats = await withRights(above, 0o700, () => lstat(bytes));
      entries += 1;
      if (stats.isFile()) size += stats.size;
      if (entries > limits.folderEntries || size > limits.folderBytes) return { files, leftOut, isWithinLimits: false };
      const text = decoded(name);
      if (stats.isDirectory()) folders.push({ bytes, path: path === null || text === null ? null : `${path}/${text}` });
      if (path === null) continue;
      const found = judge(`${path}/${text ?? Buffer.from(name, 'latin1')}`, text !== null, stats);
      if ('reason' in found) leftOut.push(found);
      else if ('below' in found) files.push({ path: found.below, size: stats.size, open: () => openFile(bytes) });
    }
  }
  return { files, leftOut, isWithinLimits: true };
}

/** Finds what a command put in its folder's place: in `exec`, a link there could lead to this machine's files. */
async function replacedFolder(root: string, workingFolder: MountPath): Promise<MountPath | null> {
  for (let end = 0; end !== -1; ) {
    end = workingFolder.indexOf('/', end + 1);
    const path = end === -1 ? workingFolder : startOfPath(workingFolder, end);
    const stats = await lstat(join(root, path)).catch(() => null);
    if (!stats?.isDirectory()) return path;
  }
  return null;
}

/** Returns the path of a file that may be published, why the entry is left out, or nothing for a folder. */
function judge(
  path: string,
  isUtf8: boolean,
  stats: Stats,
): { below: MountPath } | OmittedEntry | Record<never, never> {
  if (!isUtf8) return { path, reason: 'has a name that is not UTF-8' };
  if (stats.isDirectory()) return {};
  if (!stats.isFile()) return { path, reason: `is ${getKind(stats)}, not a regular file` };
  const checked = checkFilePath(path);
  return 'problem' in checked ? { path, reason: `has a path that is not allowed: it ${checked.problem}` } : checked;
}

/** The command may have taken the rights to `path` away. The owner can give them back. */
async function withRights<T>(path: Buffer, mode: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDenied(error)) throw error;
    await chmod(path, mode);
    return await work();
  }
}

const openFile = (path: Buffer): Promise<FileHandle> =>
  withRights(path, 0o600, () => open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));

/** Returns null if the name is not UTF-8. */
function decoded(latin1: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return null;
  }
}

function getKind(stats: Stats): string {
  if (stats.isSymbolicLink()) return 'a link';
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
}
