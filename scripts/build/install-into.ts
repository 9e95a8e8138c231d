import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { publishedPackages } from './packages.ts';

/*
 * Packs the built packages into `vendor/` of a project and installs them there, because no registry has them:
 * `npm run install-into -- ../shop`, or with the names of some packages `npm run install-into -- ../backend client`.
 */

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

function npm(args: readonly string[], cwd: string): void {
  const { status } = spawnSync('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd,
    stdio: 'inherit',
  });
  if (status !== 0) fail(`npm ${args[0]} failed in ${cwd}; its reason is above.`);
}

const [folder, ...names] = process.argv.slice(2);
const known = publishedPackages.map(({ folder: name }) => name);
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) fail(`There is no package ${unknown.join(', ')}; use some of: ${known.join(', ')}.`);
if (folder === undefined || !existsSync(join(folder, 'package.json')))
  fail(
    `${folder ?? 'The project'} has no package.json; name the folder of your project: npm run install-into -- ../shop`,
  );
const packages = names.length > 0 ? names : ['agency', 'client', 'documents', 'server', 'cli'];
const dists = packages.map((name) => resolve('packages', name, 'dist'));
if (!dists.every((dist) => existsSync(join(dist, 'package.json'))))
  fail('The packages are not built; run: npm run build');
const project = resolve(folder);
const vendor = join(project, 'vendor');
mkdirSync(vendor, { recursive: true });
npm(['pack', '--silent', '--pack-destination', vendor, ...dists], project);
const { version } = (await import(join(dists[0] ?? '', 'package.json'), { with: { type: 'json' } })).default;
npm(['install', ...packages.map((name) => `./vendor/runwire-${name}-${version}.tgz`)], project);
