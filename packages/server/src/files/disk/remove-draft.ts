import { randomBytes } from 'node:crypto';
import { codeOf } from '../../storage/disk/as-unavailable.ts';
import type { ConfinedFolder, Name } from './confined-folder.ts';

export const newDraft = () => randomBytes(12).toString('hex');

/** In one step: none of its files is seen without the others. False: it was not there any more. */
export async function moveAway(parent: ConfinedFolder, name: Name, drafts: ConfinedFolder, draft: string) {
  try {
    await parent.rename(name, drafts, draft);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * A file, or a folder with all that is in it, however deep: folders within it are drafts of their own before they go, so
 * that it never holds more than one of them open, and whoever dies on the way leaves nothing but drafts. Resolves to how
 * many files there were.
 */
export async function removeDraft(drafts: ConfinedFolder, draft: Name): Promise<number> {
  const waiting: Name[] = [draft];
  let files = 0;
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    await using folder = await drafts.folder(name);
    if (folder === null) {
      const isFile = (await drafts.stat(name))?.isFile() === true;
      if ((await drafts.unlink(name)) && isFile) files += 1;
      continue;
    }
    for (const entry of await folder.entries()) {
      if (entry.isDirectory()) {
        const inner = newDraft();
        // Else another remover of this draft has it.
        if (await moveAway(folder, entry.name, drafts, inner)) waiting.push(inner);
      } else if ((await folder.unlink(entry.name)) && entry.isFile()) {
        files += 1;
      }
    }
    // What came into it meanwhile is left to the sweep.
    await drafts.removeEmptyFolder(name);
  }
  return files;
}
