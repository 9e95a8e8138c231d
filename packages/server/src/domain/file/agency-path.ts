import type { CheckedText } from '../checked-text.ts';
import { type CheckedPath, checkAnyFolderPath, checkFilePath, MOUNT, type MountPath, wholePath } from './mount-path.ts';

/** The path under which an agent sees its agency's files. They are read-only. */
export const AGENCY = '/app/agency' as AgencyPath;

/** The whole path of a file or folder of the agency. */
export type AgencyPath = CheckedText<'AgencyPath'>;

/** A file or folder that an agent names. */
export type AgentPath = MountPath | AgencyPath;

/** A path below the mount has no slash at its beginning. */
export const isAgencyPath = (path: AgentPath): path is AgencyPath => path.startsWith('/');

/** Returns the path of an entry that a folder of the agency has. */
export const agencyEntry = (folder: AgencyPath, name: string): AgencyPath => `${folder}/${name}` as AgencyPath;

/** The whole path, as agents write it. */
export const shownPath = (path: AgentPath): string => (isAgencyPath(path) ? path : wholePath(path));

export const checkAgentFilePath = (path: string): CheckedPath<AgentPath> => checked(path, checkFilePath);

export const checkAgentFolderPath = (folder: string): CheckedPath<AgentPath> => checked(folder, checkAnyFolderPath);

function checked(path: string, check: (path: string) => CheckedPath): CheckedPath<AgentPath> {
  if (path !== AGENCY && !path.startsWith(`${AGENCY}/`)) return check(path);
  // The same rules for its segments.
  const result = check(`${MOUNT}${path.slice(AGENCY.length)}`);
  return 'problem' in result ? result : { below: path as AgencyPath };
}
