import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { differences, leftOut, misplacements, type Pass, passLine, timesLines } from './compare-stores.ts';
import { childrenSeconds } from './processor-time.ts';
import { filesOf, type PassName, type SeenServer } from './test-passes.ts';
import { lastWords, type TestReport } from './test-report.ts';

/** Most files wait more than they work, those of several nodes most of all: others load the processors meanwhile. */
const CONCURRENCY = 5;

type Env = Readonly<Record<string, string | undefined>>;

function seenIn(folder: string): SeenServer[] {
  if (!existsSync(folder)) return [];
  const text = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return text.flatMap((lines) => lines.trimEnd().split('\n')).map((line) => JSON.parse(line) as SeenServer);
}

/** Proofs take longest, and then large files: what is begun last ought to be short. */
function longestFirst(files: readonly string[]): string[] {
  const weight = (file: string) => statSync(file).size + (file.startsWith('proofs/') ? 1_000_000 : 0);
  return files.toSorted((a, b) => weight(b) - weight(a));
}

export type PassRun = Pass & { readonly passed: boolean };

/** All files of a pass on its store, by the test runner itself: its output and its closing lines are what is shown. */
export function runPass(name: PassName, env: Env): PassRun {
  const [report, stores] = [resolve(`.work/tests-${name}.json`), resolve(`.work/stores-${name}`)];
  for (const old of [report, stores]) rmSync(old, { recursive: true, force: true });
  const files = longestFirst(filesOf(name));
  const [started, before] = [performance.now(), childrenSeconds()];
  process.stdout.write(`tests, ${name}: ${files.length} files\n`);
  const { status, error } = spawnSync(
    'node',
    [
      ...['-C', 'runwire', '--test', `--test-concurrency=${CONCURRENCY}`, '--test-timeout=240000', '--test-force-exit'],
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...['--test-reporter=./scripts/test-reporter.config.ts', `--test-reporter-destination=${report}`],
      ...files,
    ],
    {
      stdio: 'inherit',
      env: { ...env, TEST_STORES_SEEN: stores, TEST_STORE: name === 'postgres' ? 'postgres' : 'sqlite' },
    },
  );
  if (error !== undefined) throw error;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  // The clock tells how busy the machine is, too; this tells what the tests cost.
  const [after, outcome] = [childrenSeconds(), status === 0 ? 'ok' : 'failed'];
  const processor = before === null || after === null ? '' : `, ${(after - before).toFixed(0)} s of processor`;
  process.stdout.write(`tests, ${name}: ${outcome}, ${seconds} s${processor}\n`);
  const told = JSON.parse(readFileSync(report, 'utf8')) as TestReport;
  return { name, files, report: told, seen: seenIn(stores), passed: status === 0 };
}

/** The whole suite: what has one store once, all else over SQLite and over PostgreSQL. True where all of it held on both. */
export function runPasses(env: Env, hasPostgres: boolean, sqlite: PassRun): boolean {
  const once = runPass('once', env);
  const postgres = hasPostgres ? runPass('postgres', env) : null;
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
