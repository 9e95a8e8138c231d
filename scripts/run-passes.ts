import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { differences, leftOut, misplacements, type Pass, passLine, timesLines } from './compare-stores.ts';
import { filesOf, LONGEST, type PassName, type SeenServer } from './test-passes.ts';
import { lastWords, type TestReport } from './test-report.ts';

/** Most files wait more than they work, those of several nodes most of all: others load the processors meanwhile. */
const AT_ONCE = 6;
/** Of what runs over PostgreSQL, beside the rest. */
const BESIDES = 2;

type Env = Readonly<Record<string, string | undefined>>;

function seenIn(folder: string): SeenServer[] {
  if (!existsSync(folder)) return [];
  const text = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return text.flatMap((lines) => lines.trimEnd().split('\n')).map((line) => JSON.parse(line) as SeenServer);
}

/** The longest by name, then proofs, then large files: what is begun last ought to be short. */
function longestFirst(files: readonly string[]): string[] {
  const weight = (file: string) => {
    const place = LONGEST.indexOf(file);
    return statSync(file).size + (file.startsWith('proofs/') ? 1e6 : 0) + (place === -1 ? 0 : 1e9 - place * 1e7);
  };
  return files.toSorted((a, b) => weight(b) - weight(a));
}

export type PassRun = Pass & {
  readonly passed: boolean;
  /** Shows what was held back. */
  readonly print: () => void;
};

/** All files of a pass on its store, so many at once; what the test runner says is shown as it comes, or all of it at its end. */
export async function runPass(name: PassName, env: Env, atOnce = AT_ONCE, atItsEnd = false): Promise<PassRun> {
  const [report, stores] = [resolve(`.work/tests-${name}.json`), resolve(`.work/stores-${name}`)];
  for (const old of [report, stores]) rmSync(old, { recursive: true, force: true });
  const files = longestFirst(filesOf(name));
  const started = performance.now();
  const child = spawn('node', ['-C', 'runwire', 'scripts/run-files.ts', report, String(atOnce), ...files], {
    stdio: ['ignore', atItsEnd ? 'pipe' : 'inherit', 'inherit'],
    env: { ...env, TEST_STORES_SEEN: stores, TEST_STORE: name === 'postgres' ? 'postgres' : 'sqlite' },
  });
  const said: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => said.push(chunk));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const told = JSON.parse(readFileSync(report, 'utf8')) as TestReport;
  const passed = status === 0;
  const last = `tests, ${name}: ${passed ? 'ok' : 'failed'}, ${files.length} files, ${seconds} s\n`;
  const print = () => void process.stdout.write(Buffer.concat([...said, Buffer.from(last)]));
  if (!atItsEnd) print();
  return { name, files, report: told, seen: seenIn(stores), passed, print: atItsEnd ? print : () => {} };
}

/** The whole suite: what has one store once, all else over SQLite and over PostgreSQL. True where all of it held on both. */
export async function runPasses(env: Env, hasPostgres: boolean, sqlite: PassRun): Promise<boolean> {
  // Beside each other: where one waits for its last files, the other still has some. The first has three times the work, and
  // goes on alone with as many places as it had.
  const [once, postgres] = await Promise.all([
    runPass('once', env, hasPostgres ? AT_ONCE - 1 : AT_ONCE),
    hasPostgres ? runPass('postgres', env, BESIDES, true) : null,
  ]);
  postgres?.print();
  const passes = [once, sqlite, ...(postgres === null ? [] : [postgres])];
  const problems = [...misplacements(passes), ...(env.CI ? leftOut(passes) : [])];
  if (postgres !== null) {
    problems.push(...differences(sqlite, postgres));
    process.stdout.write(timesLines(sqlite, postgres));
  }
  process.stdout.write(lastWords(Object.fromEntries(passes.map(({ name, report }) => [name, report]))));
  process.stdout.write(`\n${passes.map(passLine).join('')}`);
  if (postgres === null) process.stdout.write('postgres left out: it is not installed\n');
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  return problems.length === 0 && passes.every(({ passed }) => passed);
}
