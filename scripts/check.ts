import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

/** The whole gate, in the order in which a mistake is cheapest to hear of. */

const citations = resolve('.work/citations');
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
    ['-C', 'runwire', '--test', '--test-concurrency=2', '--test-timeout=240000', '--test-force-exit', ...tests.sort()],
  ],
  ['requirements', 'node', ['-C', 'runwire', 'scripts/requirements.ts']],
];

rmSync(citations, { recursive: true, force: true });
mkdirSync(citations, { recursive: true });
for (const [name, command, args] of steps) {
  const start = performance.now();
  const { status, error } = spawnSync(command, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      REQUIREMENTS_CITED: citations,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    },
  });
  if (status !== 0) {
    process.stderr.write(`check: ${name} failed${error === undefined ? '' : `: ${error.message}`}\n`);
    process.exitCode = 1;
    break;
  }
  process.stdout.write(`check: ${name} ok, ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
}
