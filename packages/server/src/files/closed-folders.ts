import type { ErasedIds } from '../domain/erased-ids.ts';
import type { MountPath } from '../domain/mount-path.ts';
import { foldersClosedSince } from '../store/queries/erasures.ts';
import { lockIntegrationForFiles } from '../store/queries/locks.ts';
import type { Tx } from '../store/store.ts';

/** The form was signed for a file of a person that was erased since then. */
export class FormClosed extends Error {
  override readonly name = 'FormClosed';
}

/**
 * Throws `FormClosed` if the folder of the file, or one above it, belonged to a person that was erased after the form was
 * signed. The erasure keeps only the hash of the folder.
 */
export async function checkNotClosed(
  tx: Tx,
  ids: ErasedIds,
  integrationId: string,
  { path, signedAt }: { readonly path: MountPath; readonly signedAt: number },
): Promise<void> {
  await tx.all(lockIntegrationForFiles, { integrationId });
  const closed = await tx.all(foldersClosedSince, { integrationId, since: signedAt });
  if (closed.length === 0) return;
  const closedIds = new Set(closed.map((row) => row.folder_id));
  for (const { index } of path.matchAll(/\//g)) {
    if (closedIds.has(ids.folder(integrationId, path.slice(0, index)))) throw new FormClosed();
  }
}
