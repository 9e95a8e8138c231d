import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { builtSentence } from './built-sentence.ts';
import { bundle } from './bundle.ts';
import { installedPackage, type ThirdParty } from './bundled-packages.ts';
import { compressFiles } from './compress-files.ts';
import { declare } from './declarations.ts';
import { type PublishedPackage, publishedPackages, testServer } from './packages.ts';
import { packageSbom, type Sbom } from './sbom.ts';
import { removeStamp, writeStamp } from './stamp.ts';

/**
 * Makes `dist/` of every published package. With `--for-tests`, it leaves out the declarations, adds the server that tests
 * start as a process, and makes the packages private, so that npm refuses to publish them.
 */
const { values } = parseArgs({ options: { 'for-tests': { type: 'boolean', default: false } } });
const isForTests = values['for-tests'];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join('packages', folder, 'package.json'), 'utf8'));

/** The published manifest omits sources, tests and the packages that are part of the bundle. */
function publishedManifest({
  folder,
  description,
  exports,
  bin,
  needs,
  types = [],
  isPortable = false,
}: PublishedPackage): object {
  const { name, version, license, dependencies, devDependencies } = readManifest(folder);
  const files = (file: string) => ({ types: `./${file}.d.ts`, default: `./${file}.js` });
  // Types are no dependency of the sources when they run, but the declarations name them.
  const known = { ...devDependencies, ...dependencies };
  const kept = [...needs, ...types].map((needed) => [needed, known[needed]]);
  return {
    name,
    ...(isForTests ? { private: true } : {}),
    version,
    description,
    license,
    ...repository(folder),
    type: 'module',
    ...(isPortable ? {} : { engines: { node: '>=26' } }),
    exports: {
      ...Object.fromEntries(Object.entries(exports).map(([path, file]) => [path, files(file)])),
      './package.json': './package.json',
    },
    ...(bin === undefined
      ? {}
      : { bin: Object.fromEntries(Object.entries(bin).map(([name, file]) => [name, `./${file}.js`])) }),
    ...(kept.length === 0 ? {} : { dependencies: Object.fromEntries(kept) }),
  };
}

/**
 * npm accepts a provenance only if the manifest names the repository in which the package was built. npm's pages resolve
 * a README's links in `directory`, so a package that has the README of the repository names none.
 */
function repository(folder: string): object {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
  if (!GITHUB_SERVER_URL || !GITHUB_REPOSITORY) return {};
  const directory = `packages/${folder}`;
  const own = existsSync(join(directory, 'README.md')) ? { directory } : {};
  return { repository: { type: 'git', url: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git`, ...own } };
}

/** The bill of materials of a package: what its bundle contains, and what npm installs with it. */
function bill({ folder, needs, types = [] }: PublishedPackage, bundled: readonly ThirdParty[]): Sbom {
  const { own = [], others = [] } = Object.groupBy([...needs, ...types], (name) =>
    name.startsWith('@runwire/') ? 'own' : 'others',
  );
  const installed = own.map((name) => readManifest(name.slice('@runwire/'.length)));
  return packageSbom(readManifest(folder), [...bundled, ...others.map(installedPackage)], installed);
}

const startedAt = Date.now();
removeStamp('.');
for (const found of publishedPackages) {
  const { dist, bundled } = await bundle(found);
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(publishedManifest(found), null, 2)}\n`);
  writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(bill(found, bundled), null, 1)}\n`);
  cpSync('LICENSE', join(dist, 'LICENSE'));
  const readme = join('packages', found.folder, 'README.md');
  cpSync(existsSync(readme) ? readme : 'README.md', join(dist, 'README.md'));
}
if (isForTests) await bundle(testServer);
else {
  declare(publishedPackages);
  await compressFiles('packages/server/dist/console');
}
writeStamp('.', startedAt);
process.stdout.write(builtSentence(publishedPackages, Date.now() - startedAt));
