import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mapAtMost } from '@runwire/lib/map-concurrently.ts';
import { runNode } from './run-node.ts';
import { closingLines, sumOfCounts, type TestReport, withoutClosingLines } from './test-report.ts';

/** Most test files wait more than they compute. */
const CONCURRENCY = 5;
const TEST_TIMEOUT_MS = 120_000;
/** For a process that does not even notice that a test takes too long. */
const PROCESS_TIMEOUT_MS = 1_800_000;

const scriptPath = (name: string) => join(import.meta.dirname, name);

function ownReport(file: string): TestReport | null {
  const json = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return json === '' ? null : JSON.parse(json);
}

/** Runs test files in one process and prints the output of Node's test runner when it ends. */
async function runGroup(files: readonly string[], reportFile: string, env: NodeJS.ProcessEnv): Promise<TestReport> {
  const options = [
    // Threads of the garbage collector only compete with the other test processes: 4 % less CPU time without them.
    // A young generation of 32 MiB from the start saves about 4 % more, measured over eight files.
    ['--single-threaded-gc', '--min-semi-space-size=32'],
    ['--import', scriptPath('measure-test-file.ts')],
    ['--test', '--test-isolation=none', '--test-force-exit', `--test-timeout=${TEST_TIMEOUT_MS}`],
    ['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ['--test-reporter', scriptPath('test-reporter.config.ts'), '--test-reporter-destination', reportFile],
  ].flat();
  const { code, stdout, stderr } = await runNode([...options, ...files], PROCESS_TIMEOUT_MS, env);
  process.stdout.write(stderr + withoutClosingLines(stdout));
  const report = ownReport(reportFile);
  if (report !== null && report.passed === (code === 0)) return report;
  const lastLines = (stdout + stderr).slice(-1000);
  const error = `The process ended with ${code ?? 'a signal'} before it reported its tests. Its last lines:\n${lastLines}`;
  const failed = [{ location: files.join(' '), name: 'test process', error }];
  return { failed, skipped: [], passed: false, counts: { tests: 1, fail: 1 }, cpu: [] };
}

/** Runs groups of test files, see `toGroups`. Prints the closing lines for all of them. */
export async function runTests(groups: readonly (readonly string[])[], env: NodeJS.ProcessEnv): Promise<TestReport> {
  const start = performance.now();
  const folder = resolve('.work/tests');
  const cpu = join(folder, 'cpu.jsonl');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const reports = await mapAtMost(CONCURRENCY, groups, (files, index) =>
    runGroup(files, join(folder, `${index}.json`), { ...env, TEST_CPU: cpu }),
  );
  const lines = existsSync(cpu) ? readFileSync(cpu, 'utf8').trimEnd().split('\n') : [];
  const counts = sumOfCounts(reports);
  process.stdout.write(closingLines(counts, performance.now() - start));
  return {
    failed: reports.flatMap(({ failed }) => failed),
    skipped: [...new Set(reports.flatMap(({ skipped }) => skipped))],
    passed: reports.every(({ passed }) => passed),
    counts,
    cpu: lines.map((line) => JSON.parse(line) as TestReport['cpu'][number]),
  };
}
