import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { after, beforeEach, type SuiteContext, type TestContext } from 'node:test';
import { isMainThread } from 'node:worker_threads';
import { childrenSeconds } from './processor-time.ts';

/**
 * Loaded into each process that runs test files: writes the CPU seconds of each file to the file that `TEST_CPU` names,
 * with those of the processes that the tests started and that have ended. The time before the first test is `LOADING`.
 */
const LOADING = 'loading modules';
const log = process.env.TEST_CPU ?? '';

function secondsSoFar(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + (childrenSeconds() ?? 0);
}

function measure(): void {
  const toSeconds = new Map<string, number>();
  let [current, since] = [LOADING, 0];
  const getEnd = (next: string) => {
    const now = secondsSoFar();
    toSeconds.set(current, (toSeconds.get(current) ?? 0) + now - since);
    [current, since] = [next, now];
  };
  beforeEach((t: TestContext | SuiteContext) => getEnd(relative('.', t.filePath ?? '')));
  process.once('exit', () => {
    getEnd('');
    for (const [file, seconds] of toSeconds) appendFileSync(log, `${JSON.stringify({ file, seconds })}\n`);
  });
}

/**
 * Ends the process without the teardown of Node 26, which can wait for ever for a handle (`Environment::CleanupHandles`
 * polls an empty loop). Registered after all tests, so that every other listener has run.
 */
function exitWithoutTeardown(): void {
  after(() => {
    process.once('exit', () => process.exit());
  });
}

// Processes that a test starts inherit the variable, but not this module; its threads inherit both.
if (log !== '' && isMainThread) {
  measure();
  exitWithoutTeardown();
}
