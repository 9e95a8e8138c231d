import type { ErasedIds } from '../domain/account/erased-ids.ts';
import { DEFAULT_MEMBER_FOLDER, isBelow, memberFolder } from '../domain/file/file-access.ts';
import { foldersAbove, type MountPath } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { erasuresOfFolders, type FolderErasure, readMemberFolder } from '../store/queries/erasures.ts';
import { jsonRows } from '../store/queries/file-batches.ts';
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
export async function checkFormOpen(
  tx: Tx,
  integrationId: IntegrationId,
  { path, expiresAt }: FormTimes,
): Promise<void> {
  await tx.all(lockIntegrationForFiles, { integrationId });
  const form = { integrationId, path: storedPath(path), expiresAt };
  if ((await first(tx.all(openForm, form))) === undefined) throw new FormClosed();
}

/** A file for which a form is signed. */
export interface SignedPath {
  readonly integrationId: IntegrationId;
  readonly path: MountPath;
}

/** Reads the erasures of the folders above a file, by the folders' hashes. Call it when a signing begins. */
export function readFolderErasures(
  reads: Reads,
  ids: ErasedIds,
  { integrationId, path }: SignedPath,
): Promise<FolderErasure[]> {
  const folders = Array.from(foldersAbove([path]), (folder) => ({ id: ids.folder(integrationId, folder) }));
  return reads.all(erasuresOfFolders, { integrationId, folders: jsonRows(folders) });
}

/**
 * Refuses to sign a form for a file in the folder of a person that is being erased, or was erased since the signing began: the
 * caller did not know of the erasure. A later signing is for a new member with the same id. Call it after the lock on the
 * the integration's files, which E3 takes too.
 */
export async function checkFolderOpen(
  tx: Tx,
  ids: ErasedIds,
  file: SignedPath,
  begun: readonly FolderErasure[],
): Promise<void> {
  const known = new Set(begun.map(erasureVersion));
  const refusedIds: string[] = [];
  for (const erasure of await readFolderErasures(tx, ids, file)) {
    const { running, consumer_id: consumerId } = erasure;
    if (consumerId !== null) refusedIds.push(consumerId);
    else if (running === 1 || !known.has(erasureVersion(erasure))) throw new Refusal('erasure_running');
  }
  if (refusedIds.length === 0) return;
  const { integrationId, path } = file;
  const template = (await first(tx.all(readMemberFolder, { integrationId })))?.member_folder ?? DEFAULT_MEMBER_FOLDER;
  if (refusedIds.some((id) => isBelow(path, memberFolder(template, id)))) throw new Refusal('erasure_running');
}

/** Changes if the erasure begins again, and if it replaces its person's id. */
const erasureVersion = (erasure: FolderErasure): string =>
  `${erasure.erased_id} ${erasure.started_at} ${erasure.replaced_at}`;
