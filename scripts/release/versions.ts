import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { cutSection } from './changelog.ts';

const PYTHON = 'packages/client-python/pyproject.toml';
const PYTHON_VERSION = /^version = "(.*)"$/m;

const manifests = () => ['package.json', ...globSync('packages/*/package.json').sort()];
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

/** Each manifest → its version. */
export function readVersions(): Record<string, string> {
  return {
    ...Object.fromEntries(manifests().map((file) => [file, readJson(file).version])),
    [PYTHON]: PYTHON_VERSION.exec(readFileSync(PYTHON, 'utf8'))?.[1] ?? 'none',
  };
}

type Manifest = Record<string, unknown>;

/** Sets the version of a manifest, and of our own packages that it depends on. */
function withVersion(manifest: Manifest, version: string): Manifest {
  const changed: Manifest = { ...manifest, version };
  for (const kind of ['dependencies', 'devDependencies']) {
    if (manifest[kind] === undefined) continue;
    changed[kind] = Object.fromEntries(
      Object.entries(manifest[kind] as object).map(([name, found]) => [
        name,
        name.startsWith('@runwire/') ? version : found,
      ]),
    );
  }
  return changed;
}

/** Writes a new version to all manifests and the lock file, and the date to the changelog. Commit and tag what it wrote. */
export function cutVersion(version: string, date: string): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`\`${version}\` is not a version such as 0.2.0.`);
  const changelog = cutSection(readFileSync('CHANGELOG.md', 'utf8'), version, date);
  const writeJson = (path: string, value: unknown) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
  for (const file of manifests()) writeJson(file, withVersion(readJson(file), version));
  const lock = readJson('package-lock.json');
  const packages = Object.entries<Manifest>(lock.packages).map(([folder, entry]) => [
    folder,
    folder === '' || /^packages\/[^/]+$/.test(folder) ? withVersion(entry, version) : entry,
  ]);
  writeJson('package-lock.json', { ...lock, version, packages: Object.fromEntries(packages) });
  writeFileSync(PYTHON, readFileSync(PYTHON, 'utf8').replace(PYTHON_VERSION, `version = "${version}"`));
  writeFileSync('CHANGELOG.md', changelog);
}
