import { checkFolderPath } from '../domain/mount-path.ts';
import { Refusal } from '../domain/refusal.ts';
import { askedFile } from './asked-path.ts';
import type { MountStore } from './mount-store.ts';

/** Deletes a file, or where the caller says so a folder with all that is in it. */
export async function deletePath(
  mount: Pick<MountStore, 'delete' | 'deleteFolder' | 'list'>,
  integrationId: string,
  { path, recursive = false }: { readonly path: string; readonly recursive?: boolean },
): Promise<void> {
  const below = askedFile('path', path);
  const mayBeFolder = 'below' in checkFolderPath(path);
  if (await mount.delete(integrationId, below)) return;
  if (mayBeFolder && recursive && (await mount.deleteFolder(integrationId, below)) !== null) return;
  if (mayBeFolder && !recursive && (await mount.list(integrationId, below, null, 1)) !== null) {
    throw new Refusal(
      'invalid_request',
      '`path` is a folder; send `recursive=true` to delete it with all that is in it.',
    );
  }
  throw new Refusal('file_not_found');
}
