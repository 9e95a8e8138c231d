import { maxFileBytes } from '@runwire/contract';
import { isBlank } from '@runwire/lib/is-blank.ts';
import type { CheckedText } from '../checked-text.ts';

/** The path under which an agent sees its integration's files. */
export const MOUNT = '/app/mnt';
export const MAX_FILE_BYTES = maxFileBytes;
/** In bytes of UTF-8. */
const MAX_SEGMENT_BYTES = 255;
const MAX_PATH_BYTES = 900;

const UNSHOWN = /[\p{Cc}\u2028\u2029]/u;
const BIDIRECTIONAL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
/** In a form it is replaced by the name of the sender's file. */
const FORM_VARIABLE = `$\{filename}`;

/**
 * A file or folder below the mount: its segments joined by `/`, without the mount itself. It is canonical and equals
 * the given text byte by byte.
 */
export type MountPath = CheckedText<'MountPath'>;

export type CheckedPath<Path = MountPath> = { readonly below: Path } | { readonly problem: string };

/** The mount itself. */
export const WHOLE_MOUNT = '' as MountPath;

/** Returns the path below the mount, or the rest of a sentence about what is wrong with it. */
export function checkFilePath(path: string): CheckedPath {
  return checkPath(path, 'file');
}

/** Checks a folder below the mount. The mount itself is not valid. */
export function checkFolderPath(folder: string): CheckedPath {
  return checkPath(folder, 'folder');
}

/** Checks a folder to list. The mount itself is valid. */
export function checkAnyFolderPath(folder: string): CheckedPath {
  return folder === MOUNT ? { below: WHOLE_MOUNT } : checkFolderPath(folder);
}

/** Returns null if the text is a valid file name. */
export function filenameProblem(name: string): string | null {
  return segmentProblem(name, 'file');
}

export const wholePath = (below: MountPath): string => (below === '' ? MOUNT : `${MOUNT}/${below}`);

/** Returns the name of a file or folder. */
export const lastSegment = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function checkPath(path: string, of: 'file' | 'folder'): CheckedPath {
  if (!path.startsWith(`${MOUNT}/`)) return { problem: `must begin with \`${MOUNT}/\`` };
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return { problem: `must be at most ${MAX_PATH_BYTES} bytes of UTF-8` };
  const below = path.slice(MOUNT.length + 1);
  const segments = below.split('/');
  for (const [index, segment] of segments.entries()) {
    const isFile = of === 'file' && index === segments.length - 1;
    const problem = segmentProblem(segment, isFile ? 'file' : 'folder');
    if (problem !== null) return { problem };
  }
  return { below: below as MountPath };
}

function segmentProblem(segment: string, of: 'file' | 'folder'): string | null {
  if (segment === '') return 'must have no empty segment and no slash at its end';
  if (!segment.isWellFormed()) return 'must not contain half a surrogate pair';
  if (UNSHOWN.test(segment)) return 'must not contain control characters or line separators';
  if (segment.includes('/') || segment.includes('\\')) return 'must not contain `/` or `\\` within a segment';
  if (isBlank(segment.replaceAll('\ufeff', ''))) return 'must have no blank segment';
  const folded = segment.normalize('NFKC');
  if (folded === '.' || folded === '..') return 'must have no `.` or `..` segment, in any spelling';
  if (of === 'folder' && BIDIRECTIONAL.test(segment)) return 'must not contain marks of writing direction in a folder';
  if (segment.includes(FORM_VARIABLE)) return `must not contain \`${FORM_VARIABLE}\``;
  if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) {
    return `must have no segment longer than ${MAX_SEGMENT_BYTES} bytes of UTF-8`;
  }
  return null;
}

/** Returns the folder above that ends before the slash at `end`. */
export const startOfPath = (path: MountPath, end: number): MountPath => path.slice(0, end) as MountPath;

/** Returns all folders of these paths. */
export function foldersAbove(paths: readonly MountPath[]): ReadonlySet<MountPath> {
  const folders = new Set<MountPath>();
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); end !== -1; end = path.lastIndexOf('/', end - 1)) {
      const folder = startOfPath(path, end);
      // All folders above a known one are known.
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}
