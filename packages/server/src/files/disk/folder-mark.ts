import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StartRefused } from '../../domain/start-refused.ts';
import { syncFolder } from '../../lib/durable-files.ts';
import { keepMarkOnce, keptMark } from '../../store/queries/blob-folder.ts';
import { first, type Store } from '../../store/store.ts';
import { DRAFTS, unlessMissing } from './disk-blob-store.ts';

/** Its name in the folder: neither a draft nor a blob, so no sweep looks at it. */
const MARK_FILE = 'installation';
const MARK = /^[0-9a-f]{32}$/;

/**
 * All nodes of an installation keep their files in one folder: its mark stands in the folder and in the database. Of
 * nodes that first start at the same moment on different folders one has its mark kept, and the others refuse.
 */
export async function checkSharedFolder(store: Store, folder: string): Promise<void> {
  await checkWritable(folder);
  let kept = await first(store.reads.all(keptMark, {}));
  let own = await readMark(folder);
  let isNew = false;
  if (kept === undefined) {
    if (own === null) ({ mark: own, isNew } = await makeMark(folder));
    const mark = own;
    kept = await store.transact('account', async (tx) => {
      await tx.run(keepMarkOnce, { mark });
      return first(tx.all(keptMark, {}));
    });
  }
  if (kept !== undefined && kept.mark === own) return;
  if (isNew) await rm(join(folder, MARK_FILE), { force: true });
  throw new StartRefused(
    `The folder ${folder} is not the one in which the other servers of this database keep files (its mark, in the file \`${MARK_FILE}\`, is ${own === null || isNew ? 'missing' : 'another'}); set RUNWIRE_DATA_DIR to the folder that they share, or restore this one with its mark.`,
  );
}

async function checkWritable(folder: string): Promise<void> {
  const probe = join(folder, DRAFTS, `probe.${randomBytes(6).toString('hex')}`);
  try {
    await (await open(probe, 'wx', 0o600)).close();
    await rm(probe);
  } catch (error) {
    throw unusable(folder, error);
  }
}

/** Null: the folder has none. */
async function readMark(folder: string): Promise<string | null> {
  const path = join(folder, MARK_FILE);
  let text: string | null;
  try {
    text = await unlessMissing(readFile(path, 'utf8'));
  } catch (error) {
    throw unusable(folder, error);
  }
  if (text === null || MARK.test(text.trim())) return text?.trim() ?? null;
  throw new StartRefused(`The file ${path} is damaged; restore it from a back-up, or from another copy of the folder.`);
}

/** There whole or not at all; of two processes that make it at once, one does. */
async function makeMark(folder: string): Promise<{ readonly mark: string; readonly isNew: boolean }> {
  const made = randomBytes(16).toString('hex');
  const draft = join(folder, DRAFTS, `${MARK_FILE}.${made}`);
  let isNew = true;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${made}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, join(folder, MARK_FILE)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      isNew = false;
    });
    await syncFolder(folder);
  } catch (error) {
    throw unusable(folder, error);
  } finally {
    await rm(draft, { force: true });
  }
  const mark = (await readMark(folder)) ?? made;
  return { mark, isNew };
}

function unusable(folder: string, error: unknown): StartRefused {
  const reason = error instanceof Error ? error.message : String(error);
  return new StartRefused(
    `The folder ${folder}, in which all servers of this database keep files, cannot be used (${reason}); mend that, or set RUNWIRE_DATA_DIR.`,
  );
}
