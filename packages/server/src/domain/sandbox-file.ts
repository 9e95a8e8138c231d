import { checkFilePath, lastSegment, type MountPath } from './mount-path.ts';

/** A file of the mount that a message refers to. */
export interface SandboxFile {
  readonly name: string;
  /** The whole path: `/app/mnt/…`. */
  readonly path: string;
}

export type CheckedSandboxFile =
  | { readonly file: SandboxFile; readonly below: MountPath }
  /** The rest of a sentence that begins with the name of the field. */
  | { readonly field: 'name' | 'path'; readonly problem: string };

export function checkSandboxFile({ name, path }: SandboxFile): CheckedSandboxFile {
  const checked = checkFilePath(path);
  if ('problem' in checked) return { field: 'path', problem: checked.problem };
  // The name equals the end of the path byte by byte, so it contains no control characters either.
  if (name !== lastSegment(path)) {
    return { field: 'name', problem: 'must equal the last segment of `path`' };
  }
  return { file: { name, path }, below: checked.below };
}

export function sandboxFilesOf(json: string | null): readonly SandboxFile[] {
  return json === null ? [] : (JSON.parse(json) as SandboxFile[]);
}

const ANNOUNCEMENT = 'Files that came with this message, by name and path:';

/**
 * Returns a user's message as the model receives it. The words are the same for every agent and every turn, because a
 * prompt with an unchanged beginning is cheaper. A path contains no line breaks.
 */
export function shownMessage(message: string, files: readonly SandboxFile[] = []): string {
  if (files.length === 0) return message;
  const lines = new Set(files.map(({ name, path }) => `- ${name}: ${path}`));
  return [...(message === '' ? [] : [message, '']), ANNOUNCEMENT, ...lines].join('\n');
}
