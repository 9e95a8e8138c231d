import { type CheckedPath, checkAnyFolderPath, checkFilePath, MOUNT, type MountPath, wholePath } from './mount-path.ts';

/** The path under which an agent sees the files of its agency. They are read-only. */
export const AGENCY = '/app/agency';

/** A file or folder that an agent names: below the mount, or the whole path of one of the agency's files. */
export type AgentPath = MountPath;

/** A path below the mount has no slash at its beginning. */
export const isAgencyPath = (path: AgentPath): boolean => path.startsWith('/');

/** The whole path, as agents write it. */
export const shownPath = (path: AgentPath): string => (isAgencyPath(path) ? path : wholePath(path));

export const checkAgentFilePath = (path: string): CheckedPath => checked(path, checkFilePath);

export const checkAgentFolderPath = (folder: string): CheckedPath => checked(folder, checkAnyFolderPath);

function checked(path: string, check: (path: string) => CheckedPath): CheckedPath {
  if (path !== AGENCY && !path.startsWith(`${AGENCY}/`)) return check(path);
  // The same rules for its segments.
  const result = check(`${MOUNT}${path.slice(AGENCY.length)}`);
  return 'problem' in result ? result : { below: path };
}
