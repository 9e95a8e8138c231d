import { checkAgentFilePath, checkAgentFolderPath, isAgencyPath } from '../../domain/agency-path.ts';
import { type CheckedPath, MOUNT } from '../../domain/mount-path.ts';

/** Checks the path of a file that a model sent. The problem is a whole sentence. */
export function checkModelFilePath(path: string): CheckedPath {
  return asSentence('`path`', checkAgentFilePath(path));
}

/** The default is the mount itself. */
export function checkModelFolderPath(folder: string = MOUNT): CheckedPath {
  return asSentence('`folder`', checkAgentFolderPath(folder));
}

/** Refuses the files of the agency, which are read-only. */
export function inMount(checked: CheckedPath): CheckedPath {
  if ('problem' in checked || !isAgencyPath(checked.below)) return checked;
  return { problem: `${checked.below} is read-only; name a path below ${MOUNT}.` };
}

function asSentence(field: string, checked: CheckedPath): CheckedPath {
  return 'problem' in checked ? { problem: `${field} ${checked.problem}.` } : checked;
}

export const bytes = (count: number): string => (count === 1 ? '1 byte' : `${count} bytes`);
