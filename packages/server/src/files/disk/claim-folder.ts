import { StartRefused } from '../../domain/start-refused.ts';
import { installation } from '../../store/queries/accounts.ts';
import { draftMark, VALID_MARK_ID } from '../../store/queries/blob-folder.ts';
import { first, type Store } from '../../store/store.ts';
import { readMarks, storeMark } from '../installation-mark.ts';
import { checkWritable, newMark, otherFolder, readMark, removeMark, takenFolder, writeMark } from './folder-mark.ts';

export const FIRST_START_REMEDY =
  'set DATABASE_URL and RUNWIRE_DATA_DIR to what belongs together, or remove that folder if nobody needs it';

/**
 * All servers of an installation keep their files in one folder: its mark stands in the folder and in the database, from
 * the first start on.
 *
 *   drafted in the database ──▶ in the folder ──▶ kept in the database
 *
 * Drafted first: whoever finds a mark in the folder that the database does not know, neither kept nor drafted, has the
 * folder of somebody else. Of servers that first start at the same moment on different folders one has its mark kept, and
 * the others refuse. A start that died on the way is gone on with.
 */
export async function claimFolder(store: Store, folder: string): Promise<void> {
  await checkWritable(folder);
  // The folder before the database: what another server of this database has put there by now, the database knows.
  const taken = await takenFolder(folder, FIRST_START_REMEDY);
  let own = await readMark(folder);
  const marks = await readMarks(store);
  let { known } = marks;
  let kept = marks.kept?.mark;
  let isNew = false;
  // Another server may have put its mark there and had it kept after the folder was read.
  if (kept !== undefined && own === null) own = await readMark(folder);
  if (kept === undefined) {
    const isFirst = (await first(store.reads.all(installation, {}))) === undefined;
    if (own === null) {
      // An installation without a mark is of an earlier version, and these are its files.
      if (isFirst && taken !== null) throw taken;
      own = newMark();
      await draft(store, own);
      isNew = await writeMark(folder, own);
      if (!isNew) {
        own = (await readMark(folder)) ?? own;
        ({ known } = await readMarks(store));
      }
    }
    if (!isNew && !known.has(own)) throw isFirst && taken !== null ? taken : unknownMark(folder);
    ({ mark: kept } = await storeMark(store, own, 'disk'));
  }
  if (kept === own) return removeMark(folder, 'restoring');
  if (isNew) await removeMark(folder);
  throw otherFolder(folder, isNew ? null : own, kept);
}

function draft(store: Store, mark: string): Promise<number> {
  // Any number but that of the kept one.
  const id = VALID_MARK_ID + 1 + Number.parseInt(mark.slice(0, 7), 16);
  return store.transact('account', (tx) => tx.run(draftMark, { id, mark }));
}

function unknownMark(folder: string): StartRefused {
  return new StartRefused(
    `The folder ${folder} has a mark, in the file \`installation\`, that this installation does not know; set RUNWIRE_DATA_DIR to its own folder, or remove that file if you are sure that this is it.`,
  );
}
