import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { withoutNamespaces } from '@runwire/test-kit/without-namespaces.ts';
import { proofParts } from '../proofs/proof-parts.ts';
import { TEST_PROOFS } from '../proofs/test-proofs.ts';
import { GateServices } from './gate-services.ts';
import { type Part, type PartResult, runParts } from './parts.ts';
import { childrenSeconds } from './processor-time.ts';
import { Progress } from './progress.ts';
import { runNode } from './run-node.ts';
import { fullFiles } from './test-files.ts';

/*
 * The gate, the gate on a system that forbids namespaces, every proof and every planted fault, and the test files
 * `*.full.test.ts` that belong to no proof. A run that was interrupted continues after the parts that passed; `--restart`
 * begins anew. With names, only these parts run: `gate`, `gate-without-namespaces`, a test file, a proof.
 *
 * npm run check:full -- [--restart] [--lanes <number>] [<name>...]
 */

/** For tests without a timeout of their own. */
const TEST_TIMEOUT_MS = 240_000;
/** Ends a file that hangs. Longer than the longest timeout of a single test. */
const FILE_TIMEOUT_MS = 900_000;

const GATE = ['node', '-C', 'runwire', 'scripts/check.ts'] as const;

function gatePart(name: string, [program, ...args]: readonly [string, ...string[]], env = process.env): Part {
  async function run(): Promise<PartResult> {
    const { status } = spawnSync(program, args, { stdio: 'inherit', env });
    return { problem: status === 0 ? null : `exit code ${status}; see above`, summary: '', output: '' };
  }
  return { name, label: name, run };
}

function testPart(file: string): Part {
  async function run(): Promise<PartResult> {
    const args = ['--test', '--test-force-exit', '--test-reporter=spec', `--test-timeout=${TEST_TIMEOUT_MS}`, file];
    const { code, stdout, stderr } = await runNode(args, FILE_TIMEOUT_MS);
    const count = (what: string) => Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0);
    const [passed, skipped] = [count('pass'), count('skipped')];
    const summary = `${passed} tests passed${skipped === 0 ? '' : `, ${skipped} skipped`}`;
    const mustNotSkip = process.env.CI && skipped > 0 ? `CI skips no test, but ${skipped} were skipped` : null;
    return { problem: code === 0 ? mustNotSkip : `exit code ${code}`, summary, output: `${stderr}${stdout}` };
  }
  return { name: file, label: file, run };
}

/** Runs the parts in the environment that the gate gives to its tests. */
async function runWithServices(parts: readonly Part[], lanes: number): Promise<string[]> {
  await using services = new GateServices();
  const environment = await services.environment;
  if (environment === null) return ['\n✖ A service that tests need could not be installed or started.\n'];
  const build = spawnSync('node', ['-C', 'runwire', 'scripts/build/main.ts', '--for-tests'], { stdio: 'inherit' });
  if (build.status !== 0) return ['\n✖ The build failed; see above.\n'];
  Object.assign(process.env, environment, { TEST_BUILD: '1', NODE_COMPILE_CACHE: resolve('.work/compile-cache') });
  return await runParts(parts, progress, lanes);
}

const { values, positionals: names } = parseArgs({
  options: { restart: { type: 'boolean', default: false }, lanes: { type: 'string', default: '2' } },
  allowPositionals: true,
});
const notes = resolve('.work/checked.txt');
if (values.restart) rmSync(notes, { force: true });
const progress = new Progress(notes);
const inProofs = new Set(Object.values(TEST_PROOFS).flatMap(({ files }) => files));
const others = fullFiles().filter((file) => !inProofs.has(file));
const beside = [...others.map(testPart), ...(await proofParts())];
const all = [
  gatePart('gate', GATE),
  // Without `CI`, because tests of bubblewrap alone are skipped.
  gatePart('gate-without-namespaces', withoutNamespaces(GATE), { ...process.env, CI: '' }),
  ...beside,
];
const unknown = names.filter((name) => all.every((part) => part.name !== name));
if (unknown.length > 0) throw new Error(`There is no part with the name ${unknown.join(', ')}.`);
const chosen = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
const [alone, concurrent] = [
  chosen.filter((part) => !beside.includes(part)),
  chosen.filter((part) => beside.includes(part)),
];

const start = performance.now();
const failures = [
  ...(await runParts(alone, progress, 1)),
  ...(concurrent.every(({ label }) => progress.has(label))
    ? []
    : await runWithServices(concurrent, Number(values.lanes))),
];
const seconds = ((performance.now() - start) / 1000).toFixed(0);
const cpu = childrenSeconds();
process.stdout.write(failures.join(''));
process.stdout.write(
  `check:full: ${failures.length} of ${chosen.length} parts failed; ${cpu === null ? '' : `${cpu.toFixed(0)} CPU s, `}${seconds} s\n`,
);
if (failures.length > 0) process.exitCode = 1;
else if (names.length === 0) progress.clear();
