import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { mapAtMost } from '@runwire/server/src/lib/map-concurrently.ts';
import type { TestReport } from './test-report.ts';

/** Most test files wait more than they compute. */
const CONCURRENCY = 5;
const TEST_TIMEOUT_MS = 120_000;
/** For a process that does not even notice that a test takes too long. */
const PROCESS_TIMEOUT_MS = 900_000;

const scriptPath = (name: string) => join(import.meta.dirname, name);

function ownReport(file: string): TestReport | null {
  const json = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return json === '' ? null : JSON.parse(json);
}

/** Runs test files in one process and prints the output of Node's test runner when it ends. */
async function runGroup(files: readonly string[], reportFile: string, env: NodeJS.ProcessEnv): Promise<TestReport> {
  const options = [
    ['-C', 'runwire', '--import', scriptPath('measure-test-file.ts')],
    ['--test', '--test-isolation=none', '--test-force-exit', `--test-timeout=${TEST_TIMEOUT_MS}`],
    ['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ['--test-reporter', scriptPath('test-report.ts'), '--test-reporter-destination', reportFile],
  ].flat();
  const child = spawn(process.execPath, [...options, ...files], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: PROCESS_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<string>((end) => {
    child.once('exit', (code, signal) => end(`${signal ?? code}`));
  });
  const output = await text(child.stdout);
  process.stdout.write(output);
  const end = await ended;
  const report = ownReport(reportFile);
  if (report !== null && report.passed === (end === '0')) return report;
  const error = `The process ended with ${end} before it reported its tests. Its last lines:\n${output.slice(-1000)}`;
  return { failed: [{ location: files.join(' '), name: 'test process', error }], skipped: [], passed: false, cpu: [] };
}

/** Runs groups of test files, see `groupsOf`. */
export async function runTests(groups: readonly (readonly string[])[], env: NodeJS.ProcessEnv): Promise<TestReport> {
  const folder = resolve('.work/tests');
  const cpu = join(folder, 'cpu.jsonl');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const reports = await mapAtMost(CONCURRENCY, groups, (files, index) =>
    runGroup(files, join(folder, `${index}.json`), { ...env, TEST_CPU: cpu }),
  );
  const lines = existsSync(cpu) ? readFileSync(cpu, 'utf8').trimEnd().split('\n') : [];
  return {
    failed: reports.flatMap(({ failed }) => failed),
    skipped: [...new Set(reports.flatMap(({ skipped }) => skipped))],
    passed: reports.every(({ passed }) => passed),
    cpu: lines.map((line) => JSON.parse(line) as TestReport['cpu'][number]),
  };
}
