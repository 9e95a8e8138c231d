import type { BigIntStats } from 'node:fs';
import type { MountPath } from '../../domain/mount-path.ts';
import { fileNames, folderNames } from '../mount-names.ts';
import type { ConfinedFolder } from './confined-folder.ts';
import { type MountFolders, unlessFolderGoes } from './mount-folders.ts';
import { moveAway, newDraft, removeDraft } from './remove-draft.ts';

/** What it was; null: there was no file of that name. */
export async function deleteFile(
  folders: MountFolders,
  integrationId: string,
  path: MountPath,
): Promise<BigIntStats | null> {
  const { folders: names, name } = fileNames(path);
  await using folder = await folders.folder(integrationId, names);
  const stats = (await folder?.stat(name)) ?? null;
  if (folder === null || stats?.isFile() !== true || !(await folder.unlink(name))) return null;
  await folder.sync();
  await deleteEmptyFolders(folders, integrationId, names);
  return stats;
}

/** With all that is below; resolves to how many files. Null: there is no such folder. */
export async function deleteTree(
  folders: MountFolders,
  integrationId: string,
  path: MountPath,
): Promise<number | null> {
  const names = folderNames(path);
  const last = names.at(-1);
  await using parent = await folders.folder(integrationId, names.slice(0, -1));
  if (parent === null) return path === '' ? 0 : null;
  // The mount itself stays, for a sandbox may have it: what is in it goes.
  const going = last === undefined ? (await parent.entries()).map(({ name }) => name) : [last];
  if (last !== undefined && (await parent.stat(last))?.isDirectory() !== true) return null;
  await using drafts = await unlessFolderGoes(() => folders.madePart(integrationId, 'drafts'));
  const moved: string[] = [];
  for (const name of going) {
    const draft = newDraft();
    if (await moveAway(parent, name, drafts, draft)) moved.push(draft);
  }
  if (last !== undefined && moved.length === 0) return null;
  await parent.sync();
  await deleteEmptyFolders(folders, integrationId, names.slice(0, -1));
  let files = 0;
  for (const draft of moved) files += await removeDraft(drafts, draft);
  return files;
}

/** From the innermost of these folders outwards, as far as they are empty. */
async function deleteEmptyFolders(
  folders: MountFolders,
  integrationId: string,
  names: readonly string[],
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const held: ConfinedFolder[] = [];
  for (let depth = 0; depth < names.length; depth += 1) {
    const next: ConfinedFolder | null = await (depth === 0
      ? folders.part(integrationId, 'files')
      : (held[depth - 1]?.folder(names[depth - 1] ?? '') ?? null));
    // Somebody else was sooner.
    if (next === null) break;
    held.push(stack.use(next));
  }
  for (const [depth, parent] of [...held.entries()].reverse()) {
    if (!(await parent.removeEmptyFolder(names[depth] ?? ''))) return;
    await parent.sync();
  }
}
