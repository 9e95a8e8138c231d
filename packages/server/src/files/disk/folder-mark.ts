import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '@runwire/lib/durable-files.ts';
import { StartRefused } from '../../domain/start-refused.ts';
import { DRAFTS, holdsBlobs, unlessMissing } from '../../storage/disk/disk-blob-store.ts';

/**
 * Files in the folder of the blobs that tell which installation the blobs belong to: its database has the same mark. The
 * sweep ignores these names.
 *
 * - `installation`: the mark.
 * - `restoring`: the mark that the folder gets when the restore in progress ends. The next restore recognises an
 *   interrupted restore by this file, and starts again in the same folder.
 */
export type MarkFile = 'installation' | 'restoring';

const MARK = /^[0-9a-f]{32}$/;

export const newMark = () => randomBytes(16).toString('hex');

/** Resolves to null if the folder has no mark or does not exist. */
export async function readMark(folder: string, name: MarkFile = 'installation'): Promise<string | null> {
  const path = join(folder, name);
  let text: string | null;
  try {
    text = await unlessMissing(readFile(path, 'utf8'));
  } catch (error) {
    throw unusable(folder, error);
  }
  if (text === null || MARK.test(text.trim())) return text?.trim() ?? null;
  throw new StartRefused(`The file ${path} is damaged; restore it from a backup, or from another copy of the folder.`);
}

/** Writes the mark completely or not at all. Resolves to false if the folder has a mark already. */
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

/** Refuses another installation's folder: a sweep would delete the blobs that this database does not know. */
export async function checkMark(folder: string, kept: string): Promise<void> {
  const own = await readMark(folder);
  if (own !== kept) throw otherFolder(folder, own, kept);
}

export function otherFolder(folder: string, own: string | null, kept: string): StartRefused {
  const [fault, remedy] =
    own === null ? ['missing', `; if its blobs are lost, write the line ${kept} into that file`] : ['another', ''];
  return new StartRefused(
    `The folder ${folder} is not the one in which this installation keeps its files (its mark, in the file \`installation\`, is ${fault}); set RUNWIRE_DATA_DIR to the right folder, or restore it from the folder \`blobs\` of a backup${remedy}.`,
  );
}

/** Returns why no new installation may use this folder. Returns null if the folder is not in use. */
export async function takenFolder(folder: string, remedy: string): Promise<StartRefused | null> {
  if ((await readMark(folder, 'restoring')) !== null) {
    return new StartRefused(
      `The folder ${folder} holds blobs of a \`runwire restore\` that was interrupted; run it again, or delete the folder.`,
    );
  }
  const isTaken = (await readMark(folder)) !== null || (await holdsBlobs(folder));
  return isTaken ? new StartRefused(`The folder ${folder} holds files of another installation; ${remedy}.`) : null;
}

function unusable(folder: string, error: unknown): StartRefused {
  const reason = error instanceof Error ? error.message : String(error);
  return new StartRefused(
    `The folder ${folder}, in which this installation keeps its files, cannot be used (${reason}); fix it, or set RUNWIRE_DATA_DIR to another folder.`,
    { cause: error },
  );
}
