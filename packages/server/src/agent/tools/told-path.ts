import { type CheckedPath, checkAnyFolderPath, checkFilePath, MOUNT } from '../../domain/mount-path.ts';

/** What a model gave as the path of a file; the problem is a whole sentence. */
export function toldFile(path: string): CheckedPath {
  return asSentence('`path`', checkFilePath(path));
}

/** The mount itself where none is given. */
export function toldFolder(folder: string = MOUNT): CheckedPath {
  return asSentence('`folder`', checkAnyFolderPath(folder));
}

function asSentence(field: string, checked: CheckedPath): CheckedPath {
  return 'problem' in checked ? { problem: `${field} ${checked.problem}.` } : checked;
}

export const bytes = (count: number): string => (count === 1 ? '1 byte' : `${count} bytes`);
