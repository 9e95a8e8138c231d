import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LeftOut } from '../agent/workspace-port.ts';
import { checkFilePath, type MountPath, wholePath } from '../domain/mount-path.ts';
import type { Files, StoredFile } from '../files/files.ts';
import { mapConcurrently } from '../lib/map-concurrently.ts';
import type { StageFolders } from './stage-folders.ts';

const COPIES_AT_ONCE = 8;

/** A regular file of a stage that can become a file of the mount. */
export interface FoundFile {
  readonly path: MountPath;
  readonly size: number;
  /** The caller closes it. */
  readonly open: () => Promise<FileHandle>;
}

export interface FoundFiles {
  readonly files: readonly FoundFile[];
  readonly leftOut: readonly LeftOut[];
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
  const makeFolder = (path: MountPath): Promise<void> => {
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
  await mapConcurrently(COPIES_AT_ONCE, staged, signal, async (file, stop) => {
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
export async function findFiles(
  root: string,
  workingFolder: MountPath,
  limits: { readonly folderEntries: number; readonly folderBytes: number },
): Promise<FoundFiles> {
  const files: FoundFile[] = [];
  const leftOut: LeftOut[] = [];
  let entries = 0;
  let size = 0;
  const folders = [{ bytes: Buffer.from(join(root, workingFolder)), path: workingFolder }];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of await namesIn(folder.bytes)) {
      entries += 1;
      if (entries > limits.folderEntries) return { files, leftOut, isWithinLimits: false };
      const bytes = Buffer.concat([folder.bytes, Buffer.from('/'), name]);
      const text = decoded(name);
      const shown = `${wholePath(folder.path)}/${name.toString()}`;
      const stats = await lstat(bytes);
      if (text === null) leftOut.push({ path: shown, reason: 'has a name that is not UTF-8' });
      else if (stats.isDirectory()) folders.push({ bytes, path: joined(folder.path, text) });
      else if (!stats.isFile()) leftOut.push({ path: shown, reason: `is ${kindOf(stats)}, not a regular file` });
      else {
        size += stats.size;
        if (size > limits.folderBytes) return { files, leftOut, isWithinLimits: false };
        const checked = checkFilePath(shown);
        if ('problem' in checked)
          leftOut.push({ path: shown, reason: `has a path that is not allowed: it ${checked.problem}` });
        else files.push({ path: checked.below, size: stats.size, open: () => openFile(bytes) });
      }
    }
  }
  return { files, leftOut, isWithinLimits: true };
}

const joined = (folder: MountPath, name: string): MountPath => (folder === '' ? name : `${folder}/${name}`);

/** The command may have taken the rights away. The owner can give them back. */
async function namesIn(folder: Buffer): Promise<Buffer[]> {
  try {
    return await readdir(folder, { encoding: 'buffer' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    await chmod(folder, 0o700);
    return await readdir(folder, { encoding: 'buffer' });
  }
}

async function openFile(path: Buffer): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    return await open(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    await chmod(path, 0o600);
    return await open(path, flags);
  }
}

/** Returns null if the name is not UTF-8. */
function decoded(name: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(name);
  } catch {
    return null;
  }
}

function kindOf(stats: Awaited<ReturnType<typeof lstat>>): string {
  if (stats.isSymbolicLink()) return 'a link';
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
}
