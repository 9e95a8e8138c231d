import { randomBytes } from 'node:crypto';
import { link, open, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StartRefused } from '../../domain/start-refused.ts';
import { syncFolder } from '../../lib/durable-files.ts';
import { DRAFTS, holdsBlobs, unlessMissing } from '../../storage/disk/disk-blob-store.ts';

/**
 * What says whose files lie in a folder: the database of an installation knows the same. The names are neither of
 * drafts nor of blobs, so no sweep looks at them.
 *
 * - `installation`: the mark.
 * - `restoring`: the mark that the folder is to have, while a restore is under way. A restore that was interrupted is
 *   known by it, and can be begun again among the files that it left.
 */
export type MarkFile = 'installation' | 'restoring';

const MARK = /^[0-9a-f]{32}$/;

export const newMark = () => randomBytes(16).toString('hex');

/** Null: the folder has none, or is not there. */
export async function readMark(folder: string, name: MarkFile = 'installation'): Promise<string | null> {
  const path = join(folder, name);
  let text: string | null;
  try {
    text = await unlessMissing(readFile(path, 'utf8'));
  } catch (error) {
    throw unusable(folder, error);
  }
  if (text === null || MARK.test(text.trim())) return text?.trim() ?? null;
  throw new StartRefused(`The file ${path} is damaged; restore it from a back-up, or from another copy of the folder.`);
}

/** There whole or not at all; false: there was one already. */
export async function writeMark(folder: string, mark: string, name: MarkFile = 'installation'): Promise<boolean> {
  const draft = join(folder, DRAFTS, `${name}.${mark}.${randomBytes(6).toString('hex')}`);
  let isNew = true;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${mark}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      isNew = false;
    });
    await syncFolder(folder);
  } catch (error) {
    throw unusable(folder, error);
  } finally {
    await rm(draft, { force: true });
  }
  return isNew;
}

export async function removeMark(folder: string, name: MarkFile = 'installation'): Promise<void> {
  await rm(join(folder, name), { force: true });
}

export async function checkWritable(folder: string): Promise<void> {
  const probe = join(folder, DRAFTS, `probe.${randomBytes(6).toString('hex')}`);
  try {
    await (await open(probe, 'wx', 0o600)).close();
    await rm(probe);
  } catch (error) {
    throw unusable(folder, error);
  }
}

/** Refuses a folder that is not this installation's: what a sweep does not know there it would delete. */
export async function checkMark(folder: string, kept: string): Promise<void> {
  const own = await readMark(folder);
  if (own !== kept) throw otherFolder(folder, own, kept);
}

export function otherFolder(folder: string, own: string | null, kept: string): StartRefused {
  const [fault, remedy] =
    own === null
      ? ['missing', `; if its files are lost for good, write the line ${kept} into that file`]
      : ['another', ''];
  return new StartRefused(
    `The folder ${folder} is not the one in which this installation keeps its files (its mark, in the file \`installation\`, is ${fault}); set RUNWIRE_DATA_DIR to that one, or bring it back from the folder \`blobs\` of a back-up${remedy}.`,
  );
}

/** Beside the folder of images, in the data folder. */
const mountsBeside = (folder: string) => join(dirname(folder), 'mounts');

/** Why no new installation may begin with this folder, and the mounts beside it; null: there is nothing of anybody in it. */
export async function takenFolder(folder: string, remedy: string): Promise<StartRefused | null> {
  if ((await readMark(folder, 'restoring')) !== null) {
    return new StartRefused(
      `The folder ${folder} holds what a \`runwire restore\` left that was not finished; run that again, or remove the folder and \`mounts\` beside it.`,
    );
  }
  const isTaken = (await readMark(folder)) !== null || (await holdsBlobs(folder));
  const mounts = mountsBeside(folder);
  if (!isTaken && ((await unlessMissing(readdir(mounts))) ?? []).length === 0) return null;
  return new StartRefused(`The folder ${isTaken ? folder : mounts} holds files of another installation; ${remedy}.`);
}

function unusable(folder: string, error: unknown): StartRefused {
  const reason = error instanceof Error ? error.message : String(error);
  return new StartRefused(
    `The folder ${folder}, in which this installation keeps files, cannot be used (${reason}); mend that, or set RUNWIRE_DATA_DIR.`,
    { cause: error },
  );
}
