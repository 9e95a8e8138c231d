import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { GateServices } from './gate-services.ts';
import { Progress } from './progress.ts';
import { fullFiles } from './test-files.ts';
import { failureLines } from './test-report.ts';

/*
 * The gate, then the test files `*.full.test.ts`, then every proof and every planted fault. A run that was interrupted
 * continues after the parts that passed; `--restart` begins anew.
 */

const { values } = parseArgs({ options: { restart: { type: 'boolean', default: false } } });
const [notes, proofNotes] = [resolve('.work/checked.txt'), resolve('.work/proved.txt')];
if (values.restart) for (const file of [notes, proofNotes]) rmSync(file, { force: true });
const progress = new Progress(notes);
const failed: string[] = [];

async function part(label: string, passes: () => boolean | Promise<boolean>): Promise<void> {
  if (progress.has(label)) {
    process.stdout.write(`check:full: ${label} passed before\n`);
    return;
  }
  const start = performance.now();
  const passed = await passes();
  if (passed) progress.add(label);
  else failed.push(label);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  process.stdout.write(`check:full: ${label} ${passed ? 'ok' : 'FAILED'}, ${seconds} s\n`);
}

const runNode = (env: NodeJS.ProcessEnv, ...args: readonly string[]) =>
  spawnSync('node', ['-C', 'runwire', ...args], { stdio: 'inherit', env: { ...process.env, ...env } }).status === 0;

await part('gate', () => runNode({}, 'scripts/check.ts'));
{
  await using services = new GateServices();
  const environment = await services.environment;
  if (environment === null) throw new Error('A service that tests need could not be installed or started.');
  const env = { NODE_COMPILE_CACHE: resolve('.work/compile-cache'), ...environment };
  const { runTests } = await import('./run-tests.ts');
  const files = fullFiles().filter((file) => !progress.has(file));
  const report = files.length === 0 ? null : await runTests(files, { ...process.env, ...env });
  for (const file of fullFiles()) {
    await part(file, () => report !== null && !report.failed.some(({ location }) => location.startsWith(file)));
  }
  if (report !== null) process.stdout.write(failureLines(report));
  await part('proofs and planted faults', () => runNode(env, 'proofs/prove-all.ts'));
}
if (failed.length === 0) progress.clear();
else {
  process.stderr.write(`check:full failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
