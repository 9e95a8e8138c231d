import { codeReads } from '@runwire/lib/code-reads.ts';

let found: readonly string[] | null = null;

/**
 * Returns the values of `--allow-fs-read` for the process that interprets commands. In a published package, just-bash is a
 * part of the code itself.
 */
export function childReads(): readonly string[] {
  found ??= codeReads(import.meta.url, import.meta.url.endsWith('.ts') ? ['just-bash'] : []);
  return found;
}
