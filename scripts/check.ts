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
  ['requirements', 'node', ['-C', 'runwire', 'scripts/requirements.ts']],
];

// What tests need of the machine is installed beside the first steps; the tests wait for it.
const services = spawn('node', ['-C', 'runwire', 'test/support/install-services.ts'], { stdio: 'inherit' });
const installed = new Promise<number | null>((resolve) => services.once('close', resolve));

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
  const { status, error } = spawnSync(command, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      REQUIREMENTS_CITED: citations,
      // Each test file is a process of its own, and many start servers: they all load the same modules.
      NODE_COMPILE_CACHE: resolve('.work/compile-cache'),
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
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
