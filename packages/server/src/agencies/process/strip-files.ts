import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

/** What is beyond these limits is stripped in the agency's process. */
const MAX_FILES = 200;
const MAX_FILE_CHARACTERS = 256 * 1024;
/** These folders contain data, and packages of others. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'files', 'skills']);

/** JavaScript by the path of its TypeScript file from the agency's folder. */
export type StrippedFiles = ReadonlyMap<string, string>;

/**
 * Removes the types from the TypeScript files of an agency. Node's own stripper costs a process 17 MB that it never frees,
 * so the server has it once, and each agency's process does not. A file with a mistake is left out: its process
 * strips it again and reports the mistake.
 */
export async function stripFiles(folder: string): Promise<StrippedFiles> {
  const stripped = new Map<string, string>();
  for (const file of await typeScriptFiles(folder, '')) {
    const text = await readFile(join(folder, file), 'utf8').catch(() => '');
    if (text.length > MAX_FILE_CHARACTERS) continue;
    const code = withoutTypes(text);
    if (code !== null) stripped.set(file, code);
  }
  return stripped;
}

async function typeScriptFiles(folder: string, below: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true }).catch(() => [])) {
    if (found.length >= MAX_FILES) break;
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isFile() && entry.name.endsWith('.ts')) found.push(path);
    else if (entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED.has(entry.name)) {
      found.push(...(await typeScriptFiles(folder, path)));
    }
  }
  return found.slice(0, MAX_FILES);
}

function withoutTypes(text: string): string | null {
  const { emitWarning } = process;
  // Node warns that the function is experimental. It does the same as running the file.
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text);
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}
