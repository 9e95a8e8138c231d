import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { type GateStep, gatePlan } from './gate-plan.ts';
import { GateServices } from './gate-services.ts';
import { useMemoryFolder } from './memory-folder.ts';
import { childrenSeconds } from './processor-time.ts';
import type { TestReport } from './test-report.ts';

/* The gate. The checks that find a mistake soonest run first, and the first failure ends it. */

useMemoryFolder();
const citations = resolve('.work/citations');
const env: NodeJS.ProcessEnv = {
  ...process.env,
  REQUIREMENTS_CITED: citations,
  // Tests are run by many processes and start many servers. They all load the same modules.
  NODE_COMPILE_CACHE: resolve('.work/compile-cache'),
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
};
let report: TestReport | null = null;
let ranEverything = false;

function run(command: string, ...args: readonly string[]): string | null {
  return runWith({}, command, ...args);
}

function runWith(variables: NodeJS.ProcessEnv, command: string, ...args: readonly string[]): string | null {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', env: { ...env, ...variables } });
  return status === 0 ? null : (error?.message ?? 'see above');
}

/**
 * With four checkers, the default, it costs 19 CPU seconds instead of 8: each one computes most types again. It ends before
 * its garbage collector is worth its work, which is a fifth of the time; with it the process needs 1.1 GiB, without it 1.3.
 */
function checkTypes(project: string): string | null {
  // The next gate checks only what depends on a changed file.
  const known = `.work/${project.replaceAll(/\W+/g, '-')}.tsbuildinfo`;
  const incremental = ['--incremental', '--tsBuildInfoFile', known];
  return runWith({ GOGC: 'off', GOMEMLIMIT: '2GiB' }, 'tsc', '-p', project, '--checkers', '1', ...incremental);
}

async function tests(services: GateServices): Promise<string | null> {
  const found = await services.environment;
  if (found === null) return 'a service that tests need could not be installed or started';
  ranEverything = 'TEST_POSTGRES_URL' in found && 'TEST_S3' in found;
  const [{ runTests }, { gateFiles, toGroups }] = await Promise.all([
    import('./run-tests.ts'),
    import('./test-files.ts'),
  ]);
  report = await runTests(toGroups(gateFiles()), { ...env, ...found, TEST_BUILD: '1' });
  if (process.env.CI && report.skipped.length > 0)
    return `CI skips no test, but these did: ${report.skipped.join(', ')}`;
  return report.passed ? null : `${report.failed.length} failed`;
}

function requirements(): string | null {
  if (ranEverything) return run('node', '-C', 'runwire', 'scripts/requirements.ts');
  process.stdout.write('check: requirements were not counted: a service is missing, so some tests were skipped\n');
  return null;
}

/** Each resolves to null, or to the reason why it failed. */
const steps: Readonly<Record<GateStep, (services: GateServices) => string | null | Promise<string | null>>> = {
  'lock file': () => run('npm', 'ci', '--dry-run', '--ignore-scripts', '--loglevel=error'),
  types: () => run('node', '-C', 'runwire', 'scripts/doc-samples.ts') ?? checkTypes('.work/doc-samples/tsconfig.json'),
  console: () =>
    checkTypes('packages/console/tsconfig.json') ?? run('node', '-C', 'runwire', 'scripts/console/main.ts', '--check'),
  style: () => run('biome', 'check'),
  'contract pages': () => run('node', '-C', 'runwire', 'scripts/requirements.ts', '--pages'),
  'contract types': () => run('node', '-C', 'runwire', 'scripts/build-contract-types.ts', '--check'),
  openapi: () => run('node', '-C', 'runwire', 'scripts/build-openapi.ts', '--check'),
  'openapi lint': () => run('redocly', 'lint', 'docs/openapi.json'),
  // Tests start their servers and commands from it, as people do.
  build: () => run('node', '-C', 'runwire', 'scripts/build/main.ts', '--for-tests'),
  tests,
  requirements,
};

const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(1);

/** Returns the line that names the failure, or null. */
async function check(): Promise<string | null> {
  process.stdout.write(gatePlan());
  await using services = new GateServices();
  for (const [name, step] of Object.entries(steps)) {
    process.stdout.write(`check: ${name} …\n`);
    const start = performance.now();
    const failure = await step(services);
    if (failure !== null) return `check: ${name} failed: ${failure}\n`;
    process.stdout.write(`check: ${name} ok, ${seconds(start)} s\n`);
  }
  return null;
}

rmSync(citations, { recursive: true, force: true });
mkdirSync(citations, { recursive: true });
const start = performance.now();
const failure = await check();
// Tests run before the reporter is loaded if they run at all.
const { costliestFiles, failureLines } = await import('./test-report.ts');
if (report !== null) process.stdout.write(costliestFiles(report));
const cpu = childrenSeconds();
process.stdout.write(
  `gate: ${cpu === null ? '' : `${cpu.toFixed(0)} CPU s, services included; `}${seconds(start)} s\n`,
);
if (report !== null) process.stdout.write(failureLines(report));
if (failure !== null) {
  process.stderr.write(failure);
  process.exitCode = 1;
}
