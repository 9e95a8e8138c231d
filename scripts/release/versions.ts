import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cutSection } from './changelog.ts';

const PYTHON = 'packages/client-python/pyproject.toml';
const PYTHON_VERSION = /^version = "(.*)"$/m;
/** They name the image with its version. */
const IMAGE_USERS = ['deploy/kubernetes.yaml', 'docs/kubernetes.md'];

const manifests = (root: string) => ['package.json', ...globSync('packages/*/package.json', { cwd: root }).sort()];
const readText = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
const readJson = (root: string, path: string) => JSON.parse(readText(root, path));

/** Each manifest → its version. */
export function readVersions(root: string): Record<string, string> {
  return {
    ...Object.fromEntries(manifests(root).map((file) => [file, readJson(root, file).version])),
    [PYTHON]: PYTHON_VERSION.exec(readText(root, PYTHON))?.[1] ?? 'none',
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
export function cutVersion(root: string, version: string, date: string): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`\`${version}\` is not a version such as 0.2.0.`);
  const changelog = cutSection(readText(root, 'CHANGELOG.md'), version, date);
  const write = (path: string, text: string) => writeFileSync(join(root, path), text);
  const writeJson = (path: string, value: unknown) => write(path, `${JSON.stringify(value, null, 2)}\n`);
  const { version: before } = readJson(root, 'package.json');
  for (const file of manifests(root)) writeJson(file, withVersion(readJson(root, file), version));
  const lock = readJson(root, 'package-lock.json');
  const packages = Object.entries<Manifest>(lock.packages).map(([folder, entry]) => [
    folder,
    folder === '' || /^packages\/[^/]+$/.test(folder) ? withVersion(entry, version) : entry,
  ]);
  writeJson('package-lock.json', { ...lock, version, packages: Object.fromEntries(packages) });
  write(PYTHON, readText(root, PYTHON).replace(PYTHON_VERSION, `version = "${version}"`));
  for (const path of IMAGE_USERS)
    write(path, readText(root, path).replaceAll(`/runwire:${before}`, `/runwire:${version}`));
  write('CHANGELOG.md', changelog);
}
