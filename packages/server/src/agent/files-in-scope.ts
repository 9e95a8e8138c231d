import { type AgentPath, isAgencyPath } from '../domain/agency-path.ts';
import { isBelow } from '../domain/file-access.ts';
import { lastSegment, type MountPath } from '../domain/mount-path.ts';
import type { AgentFiles, FilesBelow } from './files-port.ts';

/** The files of the mount that are below a folder. The folders above it exist if it has a file, and contain nothing else. */
export function filesBelow(files: AgentFiles, below: FilesBelow): AgentFiles {
  if (below === null) return files;
  const isInside = (path: MountPath) => below !== 'nothing' && (path === below || isBelow(path, below));
  const isAbove = (path: MountPath) => below !== 'nothing' && (path === '' || isBelow(below, path));
  return {
    async list(folder, after, limit) {
      if (isInside(folder)) return files.list(folder, after, limit);
      const isSeen = isAbove(folder) && (await files.list(below, null, 1)) !== null;
      if (!isSeen) return folder === '' ? { entries: [], hasMore: false } : null;
      const end = below.indexOf('/', folder === '' ? 0 : folder.length + 1);
      const path = end === -1 ? below : below.slice(0, end);
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

const NO_FILES: AgentFiles = { list: async () => null, async *walk() {}, open: async () => null };

/** The files of the mount and those of the agency. */
export function withAgencyFiles(mount: AgentFiles, agency: AgentFiles | null): AgentFiles {
  const of = (path: AgentPath) => (isAgencyPath(path) ? (agency ?? NO_FILES) : mount);
  return {
    list: (folder, after, limit) => of(folder).list(folder, after, limit),
    walk: (folder) => of(folder).walk(folder),
    open: (path) => of(path).open(path),
  };
}
