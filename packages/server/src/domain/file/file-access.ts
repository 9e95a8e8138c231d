import { createHash } from 'node:crypto';
import { checkFolderPath, MOUNT, type MountPath } from './mount-path.ts';

/** Which files of its integration a run sees (`contract-7-file-access`). */
export type FileAccess = 'chat' | 'member' | 'all';

/** The files that a run sees, decided when it is admitted. */
export interface FileScope {
  readonly access: FileAccess;
  /** The folder of the run's member with `member`; otherwise null. */
  readonly memberFolder: MountPath | null;
}

/** The scope of a run of this consumer. */
export function fileScope(access: FileAccess, template: string, consumerId: string | null): FileScope {
  const isMembers = access === 'member' && consumerId !== null;
  return { access, memberFolder: isMembers ? memberFolder(template, consumerId) : null };
}

export const isBelow = (path: MountPath, folder: MountPath): boolean => path.startsWith(`${folder}/`);

export const DEFAULT_MEMBER_FOLDER = `${MOUNT}/members/{consumerId}`;

const VARIABLE = '{consumerId}';
const MAX_ENCODED_BYTES = 200;
const CUT_BYTES = 120;
const HASH_DIGITS = 32;

/** Returns null if the text is a valid template, and otherwise the rest of a sentence about what is wrong with it. */
export function memberFolderProblem(template: string): string | null {
  const segments = template.split('/');
  if (segments.filter((segment) => segment === VARIABLE).length !== 1 || template.split(VARIABLE).length !== 2) {
    return `must contain \`${VARIABLE}\` exactly once, as a whole path segment`;
  }
  // The longest encoded id leaves the least room.
  const checked = checkFolderPath(template.replace(VARIABLE, 'x'.repeat(MAX_ENCODED_BYTES)));
  return 'problem' in checked ? checked.problem : null;
}

/** Returns a member's folder. Two members never have the same one. */
export function memberFolder(template: string, consumerId: string): MountPath {
  return template.slice(MOUNT.length + 1).replace(VARIABLE, () => encodedSegment(consumerId)) as MountPath;
}

/** Returns the folder of the member to which a file belongs, or null if the file is not below a folder of the template. */
export function memberFolderAt(template: string, path: MountPath): MountPath | null {
  const wanted = template.slice(MOUNT.length + 1).split('/');
  const segments = path.split('/');
  if (segments.length <= wanted.length) return null;
  if (wanted.some((segment, index) => segment !== VARIABLE && segment !== segments[index])) return null;
  return segments.slice(0, wanted.length).join('/') as MountPath;
}

/** Encodes a text as one segment of a path, or as a part of one. Two texts never give the same. */
export function encodedSegment(text: string): string {
  const bytes = Buffer.from(text);
  let encoded = '';
  for (const [index, byte] of bytes.entries()) {
    const character = String.fromCharCode(byte);
    const isSafe = /[A-Za-z0-9_@+=,.-]/.test(character) && !(index === 0 && character === '.');
    encoded += isSafe ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  if (encoded.length <= MAX_ENCODED_BYTES) return encoded;
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_DIGITS);
  return `${encoded.slice(0, CUT_BYTES)}~${hash}`;
}
