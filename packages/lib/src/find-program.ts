import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/** Returns the file that a start of the command would execute, or null. A command with a slash is a path from `cwd`. */
export function findProgram(command: string, path: string, cwd: string): string | null {
  const folders = command.includes('/') ? [''] : path.split(delimiter);
  return folders.map((folder) => resolve(cwd, join(folder, command))).find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
