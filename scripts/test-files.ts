import { globSync, statSync } from 'node:fs';

const FOLDERS = ['test', 'requirements', 'bench', 'packages', 'proofs'];
const FULL = '.full.test.ts';

const allTestFiles = (): string[] =>
  FOLDERS.flatMap((folder) =>
    globSync(`${folder}/**/*.test.ts`, { exclude: (path) => path.includes('node_modules') || path.includes('dist') }),
  );

/** Large files first: a long file that begins last keeps one processor busy while the other has nothing to do. */
function largestFirst(files: readonly string[]): string[] {
  const bytes = new Map(files.map((file) => [file, statSync(file).size]));
  return files.toSorted((a, b) => (bytes.get(b) ?? 0) - (bytes.get(a) ?? 0));
}

/** Test files of the gate (`npm test`). */
export const gateFiles = (): string[] => largestFirst(allTestFiles().filter((file) => !file.endsWith(FULL)));

/** Test files that only `npm run check:full` runs: planted faults and slow recovery suites. */
export const fullFiles = (): string[] => largestFirst(allTestFiles().filter((file) => file.endsWith(FULL)));
