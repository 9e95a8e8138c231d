import { type CheckedPath, checkAnyFolderPath, checkFilePath, type MountPath } from '../domain/file/mount-path.ts';
import { Refusal } from '../domain/refusal.ts';

/** Returns the file that a caller names by its whole path. `name` is the request field's name. */
export function requestedFile(name: string, path: string): MountPath {
  return joinBelow(name, checkFilePath(path));
}

/** Does the same for a folder. The mount itself is valid. */
export function requestedFolder(name: string, path: string): MountPath {
  return joinBelow(name, checkAnyFolderPath(path));
}

function joinBelow(name: string, checked: CheckedPath): MountPath {
  if ('problem' in checked) throw new Refusal('invalid_request', `\`${name}\` ${checked.problem}.`);
  return checked.below;
}
