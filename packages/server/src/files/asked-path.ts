import { type CheckedPath, checkAnyFolderPath, checkFilePath, type MountPath } from '../domain/mount-path.ts';
import { Refusal } from '../domain/refusal.ts';

/** The file that a caller names by its whole path; `name` is what the caller's field is called. */
export function askedFile(name: string, path: string): MountPath {
  return belowOf(name, checkFilePath(path));
}

/** The same of a folder; the mount itself is one. */
export function askedFolder(name: string, path: string): MountPath {
  return belowOf(name, checkAnyFolderPath(path));
}

function belowOf(name: string, checked: CheckedPath): MountPath {
  if ('problem' in checked) throw new Refusal('invalid_request', `\`${name}\` ${checked.problem}.`);
  return checked.below;
}
