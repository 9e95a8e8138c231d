import { maxFileBytes } from '@runwire/contract';
import { isBlank } from './ids.ts';

/** Where an agent sees the files of its integration. */
export const MOUNT = '/app/mnt';
export const MAX_FILE_BYTES = maxFileBytes;
/** Bytes of UTF-8. */
const MAX_SEGMENT_BYTES = 255;
const MAX_PATH_BYTES = 900;

const UNSHOWN = /[\p{Cc}\u2028\u2029]/u;
const BIDIRECTIONAL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
/** In a form it stands for what the sender's file is called. */
const FORM_VARIABLE = `$\{filename}`;

/**
 * A file or folder below the mount: its segments joined by `/`, without the mount itself; canonical, and byte for byte
 * as it was given.
 */
export type MountPath = string;

export type CheckedPath = { readonly below: MountPath } | { readonly problem: string };

/** What a whole path means below the mount, or what is wrong with it: the rest of a sentence that begins with its name. */
export function checkFilePath(path: string): CheckedPath {
  return checkPath(path, 'file');
}

/** Of a folder below the mount; the mount itself is none. */
export function checkFolderPath(folder: string): CheckedPath {
  return checkPath(folder, 'folder');
}

/** Of a folder to look into: the mount itself is one. */
export function checkAnyFolderPath(folder: string): CheckedPath {
  return folder === MOUNT ? { below: '' } : checkFolderPath(folder);
}

/** Null: it is the name of a file. */
export function filenameProblem(name: string): string | null {
  return segmentProblem(name, 'file');
}

export const wholePath = (below: MountPath): string => (below === '' ? MOUNT : `${MOUNT}/${below}`);

/** What a file or folder is called. */
export const lastSegment = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function checkPath(path: string, of: 'file' | 'folder'): CheckedPath {
  if (!path.startsWith(`${MOUNT}/`)) return { problem: `must begin with \`${MOUNT}/\`` };
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return { problem: `must be at most ${MAX_PATH_BYTES} bytes of UTF-8` };
  const below = path.slice(MOUNT.length + 1);
  const segments = below.split('/');
  for (const [place, segment] of segments.entries()) {
    const isFile = of === 'file' && place === segments.length - 1;
    const problem = segmentProblem(segment, isFile ? 'file' : 'folder');
    if (problem !== null) return { problem };
  }
  return { below };
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
