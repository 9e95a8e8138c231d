import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { childrenSeconds } from './processor-time.ts';

/** The whole gate, in the order in which a mistake is cheapest to hear of. */

const citations = resolve('.work/citations');

const env = {
  ...process.env,
  REQUIREMENTS_CITED: citations,
  // Each test file is a process of its own, and many start servers: they all load the same modules.
  NODE_COMPILE_CACHE: resolve('.work/compile-cache'),
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
};

// What tests need of the machine is installed beside the first steps, and the S3 that they share is started there.
const services = spawn('node', ['-C', 'runwire', 'test/support/gate-services.ts'], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
/** What tests are to know of them; null: one could not be installed or started, which is said above. */
const ready = new Promise<Record<string, string> | null>((resolve) => {
  services.stdout.once('data', (line: Buffer) => resolve(JSON.parse(line.toString())));
  services.once('close', () => resolve(null));
});

function run(command: string, ...args: readonly string[]): string | null {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', env });
  return status === 0 ? null : (error?.message ?? 'see above');
}

async function tests(): Promise<string | null> {
  // Loaded when it is needed: the first steps check what it stands on.
  const { runPass, runPasses } = await import('./run-passes.ts');
  // Needs nothing of the machine: services may still be on their way.
  const sqlite = await runPass('sqlite', env);
  const found = await ready;
  if (found === null) return 'a service that tests stand on could not be installed or started';
  const { startGatePostgres } = await import('../test/support/gate-postgres.ts');
  await using postgres = await startGatePostgres();
  const hasPostgres = postgres !== null;
  hasServices = hasPostgres && 'TEST_S3' in found;
  const url = postgres === null ? {} : { TEST_POSTGRES_URL: postgres.url() };
  const passed = await runPasses({ ...env, ...url, ...found }, hasPostgres, sqlite);
  // The clock tells how busy the machine is, too; this tells what the tests cost.
  const seconds = childrenSeconds();
  if (seconds !== null) process.stdout.write(`tests and what came before them: ${seconds.toFixed(0)} s of processor\n`);
  return passed ? null : 'see above';
}
let hasServices = false;

function requirements(): string | null {
  if (hasServices) return run('node', '-C', 'runwire', 'scripts/requirements.ts');
  process.stdout.write('check: requirements not counted: tests that cite some of them were left out\n');
  return null;
}

/** Each resolves to null, or to what failed. */
const steps: Readonly<Record<string, () => string | null | Promise<string | null>>> = {
  'lock file': () => run('npm', 'ci', '--dry-run', '--ignore-scripts', '--loglevel=error'),
  // Each checker more makes most types again: by four, as by default, they cost 19 s of processor in place of 8.
  types: () => run('tsc', '-p', 'tsconfig.json', '--checkers', '1'),
  style: () => run('biome', 'check'),
  'contract types': () => run('node', '-C', 'runwire', 'scripts/build-contract-types.ts', '--check'),
  openapi: () => run('node', '-C', 'runwire', 'scripts/build-openapi.ts', '--check'),
  'openapi lint': () => run('redocly', 'lint', 'docs/openapi.json'),
  tests,
  requirements,
};

rmSync(citations, { recursive: true, force: true });
mkdirSync(citations, { recursive: true });
for (const [name, step] of Object.entries(steps)) {
  const start = performance.now();
  const failure = await step();
  if (failure !== null) {
    process.stderr.write(`check: ${name} failed: ${failure}\n`);
    process.exitCode = 1;
    break;
  }
  process.stdout.write(`check: ${name} ok, ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
}
services.stdin.end();
