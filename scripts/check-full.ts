import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { withoutNamespaces } from '@runwire/test-kit/without-namespaces.ts';
import { proofParts } from '../proofs/proof-parts.ts';
import { GateServices } from './gate-services.ts';
import { type Part, type PartResult, runParts } from './parts.ts';
import { childrenSeconds } from './processor-time.ts';
import { Progress } from './progress.ts';

/*
 * The gate, the gate on a system that forbids namespaces, every proof (the test files `*.full.test.ts` included) and every
 * planted fault. A run that was interrupted continues after the parts that passed; `--restart` begins anew. With names, only
 * these parts run: `gate`, `gate-without-namespaces`, a proof.
 *
 * npm run check:full -- [--restart] [--lanes <number>] [<name>...]
 */

const GATE = ['node', '-C', 'runwire', 'scripts/check.ts'] as const;

function gatePart(name: string, [program, ...args]: readonly [string, ...string[]], env = process.env): Part {
  async function run(): Promise<PartResult> {
    const { status } = spawnSync(program, args, { stdio: 'inherit', env });
    return { problem: status === 0 ? null : `exit code ${status}; see above`, summary: '', output: '' };
  }
  return { name, label: name, run };
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
const beside = proofParts();
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
