import { type AgencyPath, isAgencyPath } from '../domain/file/agency-path.ts';
import { isBelow } from '../domain/file/file-access.ts';
import { lastSegment, type MountPath, startOfPath, WHOLE_MOUNT } from '../domain/file/mount-path.ts';
import type { AgentFiles, FilesBelow } from './files-port.ts';

/** The files of the mount that are below a folder. The folders above it exist if it has a file, and contain nothing else. */
export function filesBelow(files: AgentFiles<MountPath>, below: FilesBelow): AgentFiles<MountPath> {
  if (below === null) return files;
  if (below === 'nothing') return NO_MOUNTED_FILES;
  const isInside = (path: MountPath) => path === below || isBelow(path, below);
  const isAbove = (path: MountPath) => path === '' || isBelow(below, path);
  return {
    async list(folder, after, limit) {
      if (isInside(folder)) return files.list(folder, after, limit);
      const isSeen = isAbove(folder) && (await files.list(below, null, 1)) !== null;
      if (!isSeen) return folder === '' ? { entries: [], hasMore: false } : null;
      const end = below.indexOf('/', folder === '' ? 0 : folder.length + 1);
      const path = end === -1 ? below : startOfPath(below, end);
      const isAfter = after === null || Buffer.compare(Buffer.from(lastSegment(path)), Buffer.from(after)) > 0;
      return { entries: isAfter ? [{ kind: 'folder', path }] : [], hasMore: false };
    },
    async *walk(folder) {
      if (isInside(folder)) yield* files.walk(folder);
      else if (isAbove(folder)) yield* files.walk(below);
    },
    open: async (path) => (isInside(path) ? await files.open(path) : null),
  };
}

const NO_FILES = { list: async () => null, async *walk() {}, open: async () => null };
const NO_MOUNTED_FILES: AgentFiles<MountPath> = {
  ...NO_FILES,
  list: async (folder) => (folder === WHOLE_MOUNT ? { entries: [], hasMore: false } : null),
};

/** The files of the mount and those of the agency. */
export function withAgencyFiles(mount: AgentFiles<MountPath>, given: AgentFiles<AgencyPath> | null): AgentFiles {
  const agency: AgentFiles<AgencyPath> = given ?? NO_FILES;
  return {
    list: async (folder, after, limit) =>
      isAgencyPath(folder) ? agency.list(folder, after, limit) : mount.list(folder, after, limit),
    walk: (folder) => (isAgencyPath(folder) ? agency.walk(folder) : mount.walk(folder)),
    open: (path) => (isAgencyPath(path) ? agency.open(path) : mount.open(path)),
  };
}
