import { globSync, readFileSync } from 'node:fs';

const FOLDERS = ['test', 'requirements', 'bench', 'packages', 'proofs'];
const FULL = '.full.test.ts';

const allTestFiles = (): string[] =>
  FOLDERS.flatMap((folder) =>
    globSync(`${folder}/**/*.test.ts`, { exclude: (path) => path.includes('node_modules') || path.includes('dist') }),
  );

/** Test files of the gate (`npm test`). */
export const gateFiles = (): string[] => allTestFiles().filter((file) => !file.endsWith(FULL));

/** A part of the file runs only at full scale. */
const HAS_FULL_FORM = /\b(?:fullTest|scale)\(/;

/**
 * Test files that `npm run check:full` runs at full scale: planted faults and slow recovery suites, and the files of the
 * gate with tests that the gate leaves out or shortens.
 */
export const fullFiles = (): string[] =>
  allTestFiles().filter((file) => file.endsWith(FULL) || HAS_FULL_FORM.test(readFileSync(file, 'utf8')));

/** A hook of a file that Node would run for the tests of every file of its process. */
const FILE_HOOK = /^(beforeEach|afterEach)\(/m;
/** In a comment of a test file, with the reason. */
export const OWN_PROCESS = 'Needs its own process:';
/** How many bytes of sources one process runs. A process that runs long keeps the gate waiting at its end. */
export const GROUP_BYTES = 720_000;

/**
 * The test files that share a process: neighbours by name, in groups of about the same size. Node runs each `before` of a
 * file when the process starts and each `after` when it ends. A process pays 1.7 CPU seconds for loading the test kit, and
 * its first servers run code that is not optimized yet. Measured: six files took 13 CPU seconds together and 21 alone, and
 * 30 files took 102 in one process and 109 in two.
 */
export function toGroups(files: readonly string[]): string[][] {
  const sources = files.toSorted().map((file) => ({ file, source: readFileSync(file, 'utf8') }));
  const isAlone = ({ source }: { readonly source: string }) => FILE_HOOK.test(source) || source.includes(OWN_PROCESS);
  const shared = sources.filter((one) => !isAlone(one));
  const bytes = shared.reduce((sum, { source }) => sum + source.length, 0);
  const count = Math.ceil(bytes / GROUP_BYTES);
  let before = 0;
  const groups = Map.groupBy(shared, ({ source }) => {
    const place = Math.floor((before * count) / bytes);
    before += source.length;
    return place;
  });
  // Those of one file last: a long group that begins last keeps one processor busy while the other has nothing to do.
  return [...groups.values(), ...sources.filter(isAlone).map((one) => [one])].map((group) =>
    group.map(({ file }) => file),
  );
}
