import { globSync, readFileSync } from 'node:fs';

const FOLDERS = ['test', 'requirements', 'bench', 'packages', 'proofs'];
const FULL = '.full.test.ts';

const allTestFiles = (): string[] =>
  FOLDERS.flatMap((folder) =>
    globSync(`${folder}/**/*.test.ts`, { exclude: (path) => path.includes('node_modules') || path.includes('dist') }),
  );

/** Test files of the gate (`npm test`). */
export const gateFiles = (): string[] => allTestFiles().filter((file) => !file.endsWith(FULL));

/** Test files that only `npm run check:full` runs: planted faults and slow recovery suites. */
export const fullFiles = (): string[] => allTestFiles().filter((file) => file.endsWith(FULL));

/** A hook of a file. In a shared process Node would run it before the tests of every file. */
const FILE_HOOK = /^(before|beforeEach|afterEach)\(/m;
/** In a comment of a test file, with the reason. */
const OWN_PROCESS = 'Needs its own process:';
/** Larger groups save little more, and a process that runs long keeps the gate waiting at its end. */
export const GROUP_BYTES = 80_000;

/**
 * The test files that share a process: neighbours by name. A file alone pays 0.9 CPU seconds for loading the test kit, and
 * its servers run code that is not optimized yet. Measured: six files took 13 CPU seconds together and 21 alone.
 */
export function groupsOf(files: readonly string[]): string[][] {
  const groups: { readonly files: string[]; readonly isAlone: boolean; bytes: number }[] = [];
  for (const file of files.toSorted()) {
    const source = readFileSync(file, 'utf8');
    const isAlone = FILE_HOOK.test(source) || source.includes(OWN_PROCESS);
    const open = groups.find((group) => !group.isAlone && group.bytes + source.length <= GROUP_BYTES);
    if (isAlone || open === undefined) groups.push({ files: [file], isAlone, bytes: source.length });
    else {
      open.files.push(file);
      open.bytes += source.length;
    }
  }
  // Large groups first: a long group that begins last keeps one processor busy while the other has nothing to do.
  return groups.toSorted((a, b) => b.bytes - a.bytes).map((group) => group.files);
}
