import { type CheckedPath, checkAnyFolderPath, checkFilePath, MOUNT } from '../../domain/mount-path.ts';

/** Checks the path of a file that a model sent. The problem is a whole sentence. */
export function checkModelFilePath(path: string): CheckedPath {
  return asSentence('`path`', checkFilePath(path));
}

/** The default is the mount itself. */
export function checkModelFolderPath(folder: string = MOUNT): CheckedPath {
  return asSentence('`folder`', checkAnyFolderPath(folder));
}

function asSentence(field: string, checked: CheckedPath): CheckedPath {
  return 'problem' in checked ? { problem: `${field} ${checked.problem}.` } : checked;
}

export const bytes = (count: number): string => (count === 1 ? '1 byte' : `${count} bytes`);
