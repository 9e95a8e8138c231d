import type { ErasedIds } from '../domain/erased-ids.ts';
import { DEFAULT_MEMBER_FOLDER, isBelow, memberFolder } from '../domain/file-access.ts';
import type { MountPath } from '../domain/mount-path.ts';
import { Refusal } from '../domain/refusal.ts';
import { type ErasuresVersion, erasedFolders, erasuresVersion, memberFolderOf } from '../store/queries/erasures.ts';
import { storedPath } from '../store/queries/files.ts';
import { lockIntegrationForFiles } from '../store/queries/locks.ts';
import { openForm } from '../store/queries/upload-forms.ts';
import { first, type Reads, type Tx } from '../store/store.ts';

/** The form has no row: it was signed for a file of a person that was erased since then, or it has expired. */
export class FormClosed extends Error {
  override readonly name = 'FormClosed';
}

/** A form names its row by its path and the time at which it expires. */
export interface FormTimes {
  readonly path: MountPath;
  readonly expiresAt: number;
}

/** Throws `FormClosed` if the form has no row. An erasure takes the path from the rows of its person's folder. */
export async function checkFormOpen(tx: Tx, integrationId: string, { path, expiresAt }: FormTimes): Promise<void> {
  await tx.all(lockIntegrationForFiles, { integrationId });
  const form = { integrationId, path: storedPath(path), expiresAt };
  if ((await first(tx.all(openForm, form))) === undefined) throw new FormClosed();
}

/** Read it when a signing begins. */
export async function readErasuresVersion(reads: Reads, integrationId: string): Promise<ErasuresVersion> {
  return (await first(reads.all(erasuresVersion, { integrationId }))) ?? { version: '', running: 0 };
}

/**
 * Refuses to sign a form for a file in the folder of a person that is being erased, or was erased since the signing began: the
 * caller did not know of the erasure. A later signing is for a new member with the same id. Call it after the lock on the
 * files of the integration, which E3 takes too.
 */
export async function checkFolderOpen(
  tx: Tx,
  ids: ErasedIds,
  { integrationId, path }: { readonly integrationId: string; readonly path: MountPath },
  begun: ErasuresVersion,
): Promise<void> {
  const now = await readErasuresVersion(tx, integrationId);
  const isSame = now.version === begun.version;
  if (isSame && now.running === 0) return;
  const template = (await first(tx.all(memberFolderOf, { integrationId })))?.member_folder ?? DEFAULT_MEMBER_FOLDER;
  const above = new Set<string>();
  for (const { index } of path.matchAll(/\//g)) above.add(ids.folder(integrationId, path.slice(0, index)));
  for (const erasure of await tx.all(erasedFolders, { integrationId })) {
    const { consumer_id: consumerId, folder_id: folderId, deleted_at: deletedAt } = erasure;
    const isRefused = consumerId !== null && isBelow(path, memberFolder(template, consumerId));
    const isErased = folderId !== null && above.has(folderId) && (deletedAt === null || !isSame);
    if (isRefused || isErased) throw new Refusal('erasure_running');
  }
}
