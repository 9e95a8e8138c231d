import { checkFilePath, checkFolderPath, type MountPath, wholePath } from '../domain/mount-path.ts';
import { MountConflict } from './mount-store.ts';

export const INTEGRATION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

// What becomes a path is checked here too, whoever checked it before.

export function checkedId(integrationId: string): string {
  if (!INTEGRATION_ID.test(integrationId)) throw new Error(`\`${integrationId}\` is no id of an integration.`);
  return integrationId;
}

export function fileNames(path: MountPath): { readonly folders: readonly string[]; readonly name: string } {
  const checked = checkFilePath(wholePath(path));
  if ('problem' in checked) throw new Error(`\`${path}\` is no path of a file: it ${checked.problem}.`);
  const folders = checked.below.split('/');
  return { name: folders.pop() ?? '', folders };
}

export function folderNames(path: MountPath): readonly string[] {
  if (path === '') return [];
  const checked = checkFolderPath(wholePath(path));
  if ('problem' in checked) throw new Error(`\`${path}\` is no path of a folder: it ${checked.problem}.`);
  return checked.below.split('/');
}

/** Why no file can have this path. */
export const folderInTheWay = (path: MountPath): MountConflict =>
  new MountConflict(
    `${wholePath(path)} is a folder, so no file can have its name; choose another name, or delete the folder.`,
  );

/** Why no folder can have this path. */
export const fileInTheWay = (path: MountPath): MountConflict =>
  new MountConflict(
    `${wholePath(path)} is a file, so no folder can have its name; choose another folder, or delete the file.`,
  );
