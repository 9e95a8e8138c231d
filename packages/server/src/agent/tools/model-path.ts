import {
  type AgentPath,
  checkAgentFilePath,
  checkAgentFolderPath,
  isAgencyPath,
} from '../../domain/file/agency-path.ts';
import { type CheckedPath, MOUNT } from '../../domain/file/mount-path.ts';

/** Checks the path of a file that a model sent. The problem is a whole sentence. */
export function checkModelFilePath(path: string): CheckedPath<AgentPath> {
  return asSentence('`path`', checkAgentFilePath(path));
}

/** The default is the mount itself. */
export function checkModelFolderPath(folder: string = MOUNT): CheckedPath<AgentPath> {
  return asSentence('`folder`', checkAgentFolderPath(folder));
}

/** Refuses the agency's files, which are read-only. */
export function inMount(checked: CheckedPath<AgentPath>): CheckedPath {
  if ('problem' in checked) return checked;
  const { below } = checked;
  return isAgencyPath(below) ? { problem: `${below} is read-only; name a path below ${MOUNT}.` } : { below };
}

function asSentence<Path>(field: string, checked: CheckedPath<Path>): CheckedPath<Path> {
  return 'problem' in checked ? { problem: `${field} ${checked.problem}.` } : checked;
}

export const bytes = (count: number): string => (count === 1 ? '1 byte' : `${count} bytes`);
