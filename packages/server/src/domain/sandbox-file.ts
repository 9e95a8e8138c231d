import { checkFilePath, lastSegment, type MountPath } from './mount-path.ts';

/** A file of the mount that came with a message. */
export interface SandboxFile {
  readonly name: string;
  /** Whole: `/app/mnt/…`. */
  readonly path: string;
}

export type CheckedSandboxFile =
  | { readonly file: SandboxFile; readonly below: MountPath }
  /** The rest of a sentence that begins with the field's name. */
  | { readonly field: 'name' | 'path'; readonly problem: string };

export function checkSandboxFile({ name, path }: SandboxFile): CheckedSandboxFile {
  const checked = checkFilePath(path);
  if ('problem' in checked) return { field: 'path', problem: checked.problem };
  // Byte for byte, so it holds no control character either: the path has none.
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
 * A user's message as a model is shown it. The words are the same for every agent and in every later turn: a prompt that
 * begins as the one before is cheaper. A path holds nothing that ends a line.
 */
export function shownMessage(message: string, files: readonly SandboxFile[] = []): string {
  if (files.length === 0) return message;
  const lines = new Set(files.map(({ name, path }) => `- ${name}: ${path}`));
  return [...(message === '' ? [] : [message, '']), ANNOUNCEMENT, ...lines].join('\n');
}
