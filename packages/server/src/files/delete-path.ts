import { checkFolderPath } from '../domain/mount-path.ts';
import { Refusal } from '../domain/refusal.ts';
import type { MountStore } from './mount-store.ts';
import { requestedFile } from './requested-path.ts';

/** Deletes a file, or a folder with everything in it if the caller asks for that. */
export async function deletePath(
  mount: Pick<MountStore, 'delete' | 'deleteFolder' | 'list'>,
  integrationId: string,
  { path, recursive = false }: { readonly path: string; readonly recursive?: boolean },
): Promise<void> {
  const below = requestedFile('path', path);
  const mayBeFolder = 'below' in checkFolderPath(path);
  if (await mount.delete(integrationId, below)) return;
  if (mayBeFolder && recursive) {
    // A folder exists only while it has files. After a concurrent DELETE of its last file it may still be on the disk.
    const files = await mount.deleteFolder(integrationId, below);
    if (files !== null && files > 0) return;
  }
  if (mayBeFolder && !recursive && (await mount.list(integrationId, below, null, 1)) !== null) {
    throw new Refusal(
      'invalid_request',
      '`path` is a folder; send `recursive=true` to delete it with everything in it.',
    );
  }
  throw new Refusal('file_not_found');
}
