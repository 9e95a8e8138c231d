import { spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { lastWords } from './test-report.ts';

/** The whole gate, in the order in which a mistake is cheapest to hear of. */

const citations = resolve('.work/citations');
const report = resolve('.work/test-report.json');
const tests = ['test', 'requirements', 'proofs', 'bench', 'packages'].flatMap((folder) =>
  globSync(`${folder}/**/*.test.ts`, { exclude: (path) => path.includes('node_modules') }),
);

/** Run again on the other store: what is decided in transactions. Every other file runs so too, by `TEST_STORE=postgres`. */
const overPostgres = ['admission', 'allowances', 'chats', 'idempotence'].map((name) => `test/${name}.test.ts`);

const steps: readonly (readonly [string, string, readonly string[]])[] = [
  ['lock file', 'npm', ['ci', '--dry-run', '--ignore-scripts', '--loglevel=error']],
  ['types', 'tsc', ['-p', 'tsconfig.json']],
  ['style', 'biome', ['check']],
  ['contract types', 'node', ['-C', 'runwire', 'scripts/build-contract-types.ts', '--check']],
  ['openapi', 'node', ['-C', 'runwire', 'scripts/build-openapi.ts', '--check']],
  ['openapi lint', 'redocly', ['lint', 'docs/openapi.json']],
  [
    'tests',
    'node',
    [
      ...['-C', 'runwire', '--test', '--test-concurrency=2', '--test-timeout=240000', '--test-force-exit'],
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...['--test-reporter=./scripts/test-reporter.config.ts', `--test-reporter-destination=${report}`],
      ...tests.sort(),
    ],
  ],
  [
    'tests over PostgreSQL',
    'node',
    ['-C', 'runwire', '--test', '--test-concurrency=2', '--test-timeout=240000', '--test-force-exit', ...overPostgres],
  ],
  ['requirements', 'node', ['-C', 'runwire', 'scripts/requirements.ts']],
];

// What tests need of the machine is installed beside the first steps; the tests wait for it.
const services = spawn('node', ['-C', 'runwire', 'test/support/install-services.ts'], { stdio: 'inherit' });
const installed = new Promise<number | null>((resolve) => services.once('close', resolve));

// Loaded when it is needed: the first steps check what it stands on.
const startPostgres = async () => (await import('../test/support/gate-postgres.ts')).startGatePostgres();
let postgres: Awaited<ReturnType<typeof startPostgres>> = null;

rmSync(citations, { recursive: true, force: true });
mkdirSync(citations, { recursive: true });
rmSync(report, { force: true });
for (const [name, command, args] of steps) {
  const start = performance.now();
  if (name === 'tests' && (await installed) !== 0) {
    process.stderr.write('check: services failed\n');
    process.exitCode = 1;
    break;
  }
  if (name === 'tests') postgres = await startPostgres();
  const overOther = name === 'tests over PostgreSQL';
  if (overOther && postgres === null) {
    process.stdout.write('check: tests over PostgreSQL left out\n');
    continue;
  }
  if (name === 'requirements' && postgres === null) {
    process.stdout.write('check: requirements not counted: tests that cite some of them were left out\n');
    continue;
  }
  const { status, error } = spawnSync(command, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      REQUIREMENTS_CITED: citations,
      // Each test file is a process of its own, and many start servers: they all load the same modules.
      NODE_COMPILE_CACHE: resolve('.work/compile-cache'),
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      ...(postgres === null ? {} : { TEST_POSTGRES_URL: postgres.url() }),
      ...(overOther ? { TEST_STORE: 'postgres' } : {}),
    },
  });
  if (name === 'tests' && existsSync(report)) process.stdout.write(lastWords(JSON.parse(readFileSync(report, 'utf8'))));
  if (status !== 0) {
    process.stderr.write(`check: ${name} failed${error === undefined ? '' : `: ${error.message}`}\n`);
    process.exitCode = 1;
    break;
  }
  process.stdout.write(`check: ${name} ok, ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
}
await postgres?.[Symbol.asyncDispose]();
