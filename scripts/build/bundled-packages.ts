import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

/** A package of others whose code is in one of our packages, or that one of our packages depends on. */
export interface ThirdParty {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** `sha512-…` of its tarball, as the lock file pins it. */
  readonly integrity: string;
  /** Its folder below the repository's root. */
  readonly folder: string;
}

interface LockEntry {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Packages that are bundles themselves: esbuild cannot see whose code they contain, so we count all their dependencies. */
const BUNDLES = ['just-bash'];
const LOCKED: Readonly<Record<string, LockEntry>> = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
/** Vite writes it with the console's pages, which the server contains. */
const CONSOLE = 'packages/console/built';
const CONSOLE_LICENCES = 'licenses.md';

/** The packages of others whose code is in a bundle, sorted by name. */
export function bundledPackages({ inputs }: Metafile, copies: Readonly<Record<string, string>>): ThirdParty[] {
  const found = new Set(Object.keys(inputs).flatMap((path) => lockedFolder(path) ?? []));
  for (const folder of found) {
    if (!BUNDLES.includes(packageName(folder))) continue;
    for (const needed of closure(folder)) found.add(needed);
  }
  const packages = [...found].map(thirdParty);
  return distinct(CONSOLE in copies ? [...packages, ...consolePackages()] : packages);
}

/** Finds an installed package by its name. */
export const installedPackage = (name: string): ThirdParty => thirdParty(`node_modules/${name}`);

/** Sorts by name and version, and leaves out the same package's second folder. */
function distinct(packages: readonly ThirdParty[]): ThirdParty[] {
  const byName = new Map(packages.map((found) => [`${found.name}@${found.version}`, found]));
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, found]) => found);
}

/** The folder of the lock file that contains this file. A proof builds with packages that are linked from another folder. */
const lockedFolder = (path: string): string | undefined =>
  /(?:packages\/[^/]+\/)?(?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+/.exec(path)?.[0].slice(0, -1);

const packageName = (folder: string) => folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);

function thirdParty(folder: string): ThirdParty {
  const { version, license, integrity } = LOCKED[folder] ?? {};
  if (version === undefined || license === undefined || integrity === undefined)
    throw new Error(`package-lock.json has no version, licence and integrity of ${folder}.`);
  return { name: packageName(folder), version, license, integrity, folder };
}

/** All packages that a package depends on, directly or not. */
function closure(folder: string, found = new Set<string>()): Set<string> {
  for (const name of Object.keys(LOCKED[folder]?.dependencies ?? {})) {
    const needed = resolvePackage(folder, name);
    if (found.has(needed)) continue;
    found.add(needed);
    closure(needed, found);
  }
  return found;
}

/** Looks for a package as Node does: beside its user first, then in each folder above. */
function resolvePackage(user: string, name: string): string {
  for (let above = user; above !== ''; above = above.slice(0, Math.max(0, above.lastIndexOf('/node_modules/')))) {
    const candidate = join(above, 'node_modules', name);
    if (candidate in LOCKED) return candidate;
  }
  return join('node_modules', name);
}

function consolePackages(): ThirdParty[] {
  const text = readFileSync(join(CONSOLE, CONSOLE_LICENCES), 'utf8');
  return [...text.matchAll(/^## (\S+) - (\S+) \(/gm)].map(([, name = '', version = '']) => {
    const locked = Object.keys(LOCKED).find(
      (folder) => packageName(folder) === name && LOCKED[folder]?.version === version,
    );
    if (locked === undefined)
      throw new Error(`The console contains ${name} ${version}, which is not locked; run: npm run console`);
    return thirdParty(locked);
  });
}
