import { readdir } from 'node:fs/promises';
import { StartRefused } from '../../domain/start-refused.ts';
import { unlessMissing } from '../../storage/disk/disk-blob-store.ts';
import { installation } from '../../store/queries/accounts.ts';
import { draftMark, VALID_MARK_ID } from '../../store/queries/blob-folder.ts';
import { first, type Store } from '../../store/store.ts';
import { readMarks, storeMark } from '../installation-mark.ts';
import {
  checkMark,
  checkWritable,
  newMark,
  otherFolder,
  readMark,
  removeMark,
  takenFolder,
  writeMark,
} from './folder-mark.ts';

/** Refuses files in the layout of earlier versions, a tree of folders. This version does not read them. */
export async function refuseOldMounts(mounts: string): Promise<void> {
  const entries = (await unlessMissing(readdir(mounts, { recursive: true, withFileTypes: true }))) ?? [];
  if (!entries.some((entry) => entry.isFile())) return;
  throw new StartRefused(
    `The folder ${mounts} has files of an earlier version, which this version cannot read; download them with that version and upload them again, or delete the folder.`,
  );
}

export const FIRST_START_REMEDY =
  'set DATABASE_URL and RUNWIRE_DATA_DIR to a database and a folder of the same installation, or delete that folder if it is not needed';

/**
 * Checks that this folder has the installation's mark. All servers of an installation store their blobs in one
 * folder, so its mark is in that folder and in the database. The first start makes it:
 *
 *   drafted in the database ──▶ written to the folder ──▶ stored in the database
 *
 * The draft is first, so a mark that the database does not know, neither stored nor drafted, belongs to another
 * installation. If servers start concurrently for the first time on different folders, one mark is stored, and the other
 * servers refuse to start. A later start continues after a crash at any of these steps.
 */
export async function claimFolder(store: Store, folder: string): Promise<void> {
  await checkWritable(folder);
  // The folder is read before the database, which knows every mark that another server of it has written by then.
  const taken = await takenFolder(folder, FIRST_START_REMEDY);
  const found = await readMark(folder);
  const { kept } = await readMarks(store);
  // Reads the folder again: another server may have written the mark after the first read.
  if (kept !== undefined) await checkMark(folder, kept.mark);
  else await storeFirstMark(store, folder, found, taken);
  await removeMark(folder, 'restoring');
}

async function storeFirstMark(
  store: Store,
  folder: string,
  found: string | null,
  taken: StartRefused | null,
): Promise<void> {
  // An installation without a mark is of an earlier version, and the blobs in the folder are its own.
  const isFirst = (await first(store.reads.all(installation, {}))) === undefined;
  const foreign = isFirst ? taken : null;
  if (found === null && foreign !== null) throw foreign;
  const { mark, isNew } = found === null ? await makeMark(store, folder) : { mark: found, isNew: false };
  if (!isNew && !(await readMarks(store)).known.has(mark)) throw foreign ?? unknownMark(folder);
  const kept = await storeMark(store, mark, 'disk');
  if (kept.mark === mark) return;
  if (isNew) await removeMark(folder);
  throw otherFolder(folder, isNew ? null : mark, kept.mark);
}

/** Resolves to the mark in the folder. `isNew` is false if another server wrote it concurrently. */
async function makeMark(store: Store, folder: string): Promise<{ readonly mark: string; readonly isNew: boolean }> {
  const mark = newMark();
  // Any number except the stored mark's id.
  const id = VALID_MARK_ID + 1 + Number.parseInt(mark.slice(0, 7), 16);
  await store.transact('account', (tx) => tx.run(draftMark, { id, mark }));
  if (await writeMark(folder, mark)) return { mark, isNew: true };
  return { mark: (await readMark(folder)) ?? mark, isNew: false };
}

function unknownMark(folder: string): StartRefused {
  return new StartRefused(
    `The folder ${folder} has a mark, in the file \`installation\`, that this installation does not know; set RUNWIRE_DATA_DIR to the folder of this installation, or delete that file if you are sure that this is the right folder.`,
  );
}
