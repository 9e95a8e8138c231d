import { codeReads } from '@runwire/lib/code-reads.ts';

/** The packages that the child imports. `child-permissions.test.ts` compares this list with the imports. */
export const READER_PACKAGES: readonly string[] = ['htmlparser2', 'mammoth', 'unpdf'];

let found: readonly string[] | null = null;

/** Returns the values of `--allow-fs-read` for the process that reads documents. */
export function childReads(): readonly string[] {
  found ??= codeReads(import.meta.url, READER_PACKAGES);
  return found;
}
