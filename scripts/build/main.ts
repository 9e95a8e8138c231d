import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { builtSentence } from './built-sentence.ts';
import { bundle } from './bundle.ts';
import { declare } from './declarations.ts';
import { type PublishedPackage, publishedPackages, testServer } from './packages.ts';
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
}

const manifestOf = (folder: string): Manifest =>
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
  const { name, version, license, dependencies = {} } = manifestOf(folder);
  const files = (file: string) => ({ types: `./${file}.d.ts`, default: `./${file}.js` });
  const kept = [...needs, ...types].map((needed) => [needed, dependencies[needed]]);
  return {
    name,
    ...(isForTests ? { private: true } : {}),
    version,
    description,
    license,
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

const startedAt = Date.now();
removeStamp('.');
for (const found of publishedPackages) {
  const dist = await bundle(found);
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(publishedManifest(found), null, 2)}\n`);
  cpSync('LICENSE', join(dist, 'LICENSE'));
  const readme = join('packages', found.folder, 'README.md');
  cpSync(existsSync(readme) ? readme : 'README.md', join(dist, 'README.md'));
}
if (isForTests) await bundle(testServer);
else declare(publishedPackages);
writeStamp('.', startedAt);
process.stdout.write(builtSentence(publishedPackages, Date.now() - startedAt));
