import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { type TestReport, testReport } from './test-report.ts';

/** Most test files wait more than they compute. */
const CONCURRENCY = 5;
const FILE_TIMEOUT_MS = 240_000;

/** Runs test files, each in its own process, and prints what Node's test runner prints. */
export async function runTests(files: readonly string[], env: NodeJS.ProcessEnv): Promise<TestReport> {
  const [report, cpu] = ['tests.json', 'tests-cpu.jsonl'].map((name) => resolve(join('.work', name))) as [
    string,
    string,
  ];
  mkdirSync('.work', { recursive: true });
  for (const old of [report, cpu]) rmSync(old, { force: true });
  const tests = run({
    files: files.map((file) => resolve(file)),
    concurrency: CONCURRENCY,
    timeout: FILE_TIMEOUT_MS,
    forceExit: true,
    execArgv: ['-C', 'runwire', '--import', join(import.meta.dirname, 'measure-test-file.ts')],
    env: { ...env, TEST_CPU: cpu },
  });
  const printed = tests.compose(spec);
  printed.pipe(process.stdout, { end: false });
  const written = tests.compose(testReport).pipe(createWriteStream(report));
  await Promise.all([finished(printed), finished(written)]);
  const lines = existsSync(cpu) ? readFileSync(cpu, 'utf8').trimEnd().split('\n') : [];
  const measured = lines.map((line) => JSON.parse(line) as TestReport['cpu'][number]);
  return { ...(JSON.parse(readFileSync(report, 'utf8')) as TestReport), cpu: measured };
}
