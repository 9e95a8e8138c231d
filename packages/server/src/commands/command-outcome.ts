import type { OddFile } from '../files/copy-mount.ts';

export interface CommandOutcome {
  /** The text for the operator. */
  readonly text: string;
  /** False if images or files are missing from the copy; the text names them. */
  readonly isWhole: boolean;
}

/** The text lists this many images or files by name. */
export const NAMED_FILES = 10;

/** Returns a line for each of the first files. */
export function describeFiles(files: readonly OddFile[]): string[] {
  return files.slice(0, NAMED_FILES).map(({ integration, path, reason }) => `  ${integration}: ${path} (${reason})`);
}
