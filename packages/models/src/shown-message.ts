/** A file that a message refers to, which agents read by its path. */
export interface SandboxFile {
  readonly name: string;
  /** The whole path: `/app/mnt/…`. */
  readonly path: string;
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
