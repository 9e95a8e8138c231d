import { type MountPath, wholePath } from '../../domain/mount-path.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import type { WaitAt } from '../../domain/wait-points.ts';
import { codeOf } from '../../storage/disk/as-unavailable.ts';
import { fileInTheWay, fileNames, folderInTheWay } from '../mount-names.ts';
import type { ConfinedFolder } from './confined-folder.ts';
import { type MountFolders, unlessFolderGoes } from './mount-folders.ts';
import { removeDraft } from './remove-draft.ts';

/** What was found on the way is not so any more: somebody made or removed a folder, or put something in its place. */
const MOVED_ON: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY']);
const MAX_TRIES = 50;

/** A draft of the new folders that a file comes with. */
export const folderAround = (draft: string) => `${draft}.folder`;

/** A whole and durable draft, on its way to its name. */
export interface Placing {
  readonly folders: MountFolders;
  readonly integrationId: string;
  readonly path: MountPath;
  readonly drafts: ConfinedFolder;
  readonly draft: string;
  readonly waitAt: WaitAt | undefined;
}

/**
 * Gives a draft its name, durably. Folders that are not there yet are made in the drafts, around it, and come with it in
 * one step: no folder is ever seen without a file, and who dies on the way leaves none.
 */
export async function placeDraft(placing: Placing): Promise<void> {
  const { folders, integrationId, path } = placing;
  const { folders: names, name } = fileNames(path);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const files = await unlessFolderGoes(() => folders.madePart(integrationId, 'files'));
    const descent = await folders.durably(files, names);
    await using folder = descent.folder;
    const { left } = descent;
    if ((await findConflict(folder, left, path)) === 'look again') continue;
    if (await tryPlace(placing, folder, [...left, name])) return;
  }
  throw new StoreUnavailable(`The folders of ${wholePath(path)} change too fast for it to be stored now.`);
}

/** Throws where a file of this path cannot be: `left` are the folders of it that are not there. */
export async function findConflict(
  folder: ConfinedFolder,
  left: readonly string[],
  path: MountPath,
): Promise<'free' | 'look again'> {
  const { folders, name } = fileNames(path);
  const next = left[0];
  const found = await folder.stat(next ?? name);
  if (found === null) return 'free';
  if (next === undefined) {
    if (!found.isDirectory()) return 'free';
    throw folderInTheWay(path);
  }
  if (found.isDirectory()) return 'look again';
  const taken = folders.slice(0, folders.length - left.length + 1).join('/');
  throw fileInTheWay(taken);
}

/** `names`: the folders that are still to be made, and the file. False: it must be looked again. */
async function tryPlace(placing: Placing, folder: ConfinedFolder, names: readonly string[]): Promise<boolean> {
  const { drafts, draft, waitAt } = placing;
  const [top = '', ...below] = names;
  const around = below.length === 0 ? null : folderAround(draft);
  if (around !== null) await wrap(placing, around, below);
  try {
    waitAt?.('upload-rename.before');
    await drafts.rename(around ?? draft, folder, top);
  } catch (error) {
    if (!MOVED_ON.has(codeOf(error))) throw error;
    if (around !== null) await unwrap(placing, around, below);
    return false;
  }
  waitAt?.('upload-rename.after');
  waitAt?.('upload-folder-sync.before');
  await folder.sync();
  waitAt?.('upload-folder-sync.after');
  return true;
}

/** Puts the draft into new folders, all of them durable. */
async function wrap({ drafts, draft }: Placing, around: string, names: readonly string[]): Promise<void> {
  await drafts.makeFolder(around);
  await inside(drafts, around, names, async (folder, name, isFile) => {
    if (isFile) await drafts.rename(draft, folder, name);
    else await folder.makeFolder(name);
    await folder.sync();
  });
}

async function unwrap({ drafts, draft }: Placing, around: string, names: readonly string[]): Promise<void> {
  await inside(drafts, around, names, async (folder, name, isFile) => {
    if (isFile) await folder.rename(name, drafts, draft);
  });
  await removeDraft(drafts, around);
}

type Visit = (folder: ConfinedFolder, name: string, isFile: boolean) => Promise<void>;

async function inside(drafts: ConfinedFolder, around: string, names: readonly string[], visit: Visit): Promise<void> {
  let folder = await drafts.folder(around);
  for (const [depth, name] of names.entries()) {
    if (folder === null) throw new Error('The folders around a draft are gone.');
    await using held: ConfinedFolder = folder;
    const isFile = depth === names.length - 1;
    await visit(held, name, isFile);
    folder = isFile ? null : await held.folder(name);
  }
}
