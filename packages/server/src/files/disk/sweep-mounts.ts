import { fileNames, INTEGRATION_ID } from '../mount-names.ts';
import { isRecordOf, recordedPath } from './about-records.ts';
import type { ConfinedFolder } from './confined-folder.ts';
import type { MountFolders, MountPart } from './mount-folders.ts';
import { removeDraft } from './remove-draft.ts';

/** The folders of an integration, in the order in which they are removed. */
const PARTS: readonly MountPart[] = ['files', 'about', 'drafts'];

/**
 * Drafts of writes that died, and records of files that are gone; resolves to how many. An integration whose folder cannot
 * be swept keeps none of the others from it, and is named at the end.
 */
export async function sweepMounts(folders: MountFolders, olderThanMs: number): Promise<number> {
  const before = Date.now() - olderThanMs;
  await using outermost = await folders.outermost();
  let dropped = 0;
  const failed: Error[] = [];
  for (const { name } of await outermost.entries()) {
    const integrationId = name.toString();
    if (!INTEGRATION_ID.test(integrationId)) continue;
    try {
      dropped += await dropDrafts(folders, integrationId, before);
      dropped += await dropRecords(folders, integrationId, before);
      await dropIfEmpty(outermost, integrationId);
    } catch (error) {
      failed.push(new Error(`What uploads have left for the integration ${integrationId} stays.`, { cause: error }));
    }
  }
  if (failed.length > 0) throw failed.length === 1 ? failed[0] : new AggregateError(failed, failed[0]?.message);
  return dropped;
}

async function dropDrafts(folders: MountFolders, integrationId: string, before: number): Promise<number> {
  await using drafts = await folders.part(integrationId, 'drafts');
  if (drafts === null) return 0;
  const old = await oldIn(drafts, before);
  for (const name of old) await removeDraft(drafts, name);
  return old.length;
}

async function dropRecords(folders: MountFolders, integrationId: string, before: number): Promise<number> {
  await using about = await folders.part(integrationId, 'about');
  if (about === null) return 0;
  let dropped = 0;
  for (const name of await oldIn(about, before)) {
    if (await isInUse(folders, integrationId, about, name.toString())) continue;
    if (await about.unlink(name)) dropped += 1;
  }
  return dropped;
}

async function isInUse(folders: MountFolders, integrationId: string, about: ConfinedFolder, name: string) {
  const path = await recordedPath(about, name);
  if (path === null) return false;
  const { folders: names, name: file } = fileNames(path);
  await using folder = await folders.folder(integrationId, names);
  const stats = (await folder?.stat(file)) ?? null;
  return stats !== null && isRecordOf(name, path, stats);
}

async function oldIn(folder: ConfinedFolder, before: number): Promise<Buffer[]> {
  const old: Buffer[] = [];
  for (const { name } of await folder.entries()) {
    const stats = await folder.stat(name);
    if (stats !== null && Number(stats.mtimeMs) <= before) old.push(name);
  }
  return old;
}

/**
 * Removes the folders of an integration that has no files any more. It removes nothing if one of them holds something: a
 * write keeps its draft in `drafts` until the end, so a sweep leaves the folders of a running write alone. A write that
 * begins after this check may still find a folder removed; it makes that folder again, at most once for each sweep.
 */
async function dropIfEmpty(outermost: ConfinedFolder, integrationId: string): Promise<void> {
  await using own = await outermost.folder(integrationId);
  if (own === null) return;
  for (const part of PARTS) if (!(await isEmpty(own, part))) return;
  for (const part of PARTS) {
    if (!(await own.removeEmptyFolder(part)) && (await own.stat(part)) !== null) return;
  }
  await outermost.removeEmptyFolder(integrationId);
}

/** True also if there is no folder of that name. */
async function isEmpty(own: ConfinedFolder, part: MountPart): Promise<boolean> {
  await using folder = await own.folder(part);
  return folder === null || (await folder.entries()).length === 0;
}
