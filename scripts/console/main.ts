import { cpSync, existsSync, mkdtempDisposableSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'vite';
import { checkBudgets, countLoads } from './budgets.ts';
import { differentFiles } from './compare-folders.ts';

/**
 * Builds the console's pages into `packages/console/built`, which is committed, so that a start needs no bundler. With
 * `--check` it writes nothing: it fails if the committed files are not those of the sources. Both check the sizes.
 */
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const source = join(import.meta.dirname, '../../packages/console');
const built = join(source, 'built');

// Vite makes another build if the variable has another value.
process.env.NODE_ENV = 'production';
using folder = mkdtempDisposableSync(join(tmpdir(), 'runwire-console-'));
await build({
  configFile: join(source, 'vite.config.ts'),
  // The other loaders write a file into `node_modules`.
  configLoader: 'native',
  logLevel: 'warn',
  build: { outDir: folder.path, emptyOutDir: true, manifest: 'manifest.json' },
});
const manifest = join(folder.path, 'manifest.json');
const loads = countLoads(JSON.parse(readFileSync(manifest, 'utf8')));
rmSync(manifest);

const { problems, summary } = checkBudgets(folder.path, loads);
if (values.check) {
  const different = existsSync(built) ? differentFiles(built, folder.path) : ['all files'];
  if (different.length > 0) {
    problems.push(
      `packages/console/built is not the build of its sources (${different.join(', ')}); run \`npm run console\`, and commit the files.`,
    );
  }
} else {
  rmSync(built, { recursive: true, force: true });
  cpSync(folder.path, built, { recursive: true });
}
process.stdout.write(`${summary}\n`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
