import { registerHooks } from 'node:module';
import { extname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as agencyPackage from '@runwire/agency';
import type { StrippedFiles } from './process/strip-files.ts';

/* Loads TypeScript modules of agencies into this process. */

/** In the query of a module's address. A new number makes Node load the module again, with its imports. */
const PARAMETER = 'runwire';
const PACKAGE_URL = 'runwire:agency';
const PACKAGE = Symbol.for('runwire.agency');

interface ModuleLoad {
  /** The real path of the agency's folder. */
  readonly folder: string;
  /** The modules of the folder that were loaded. */
  readonly files: Set<string>;
  readonly stripped: StrippedFiles;
}

const loads = new Map<string, ModuleLoad>();
let count = 0;

/** The start of an address that names a package and the folder from which it is resolved. */
const PACKAGE_IN_FOLDER = 'runwire-package:';

export interface LoadedModule {
  readonly exports: Readonly<Record<string, unknown>>;
  /** The paths from the folder of all modules that were loaded. */
  readonly files: readonly string[];
}

/** Imports a package as a module in the folder would. An installed package is loaded once per process. */
export async function importPackage(folder: string, name: string): Promise<LoadedModule['exports']> {
  addHooksOnce();
  const address = [folder, name].map(encodeURIComponent).join('/');
  return (await import(`${PACKAGE_IN_FOLDER}${address}`)) as LoadedModule['exports'];
}

/** Imports a module of an agency and everything that it imports from the folder, also if they were imported before. */
export async function importModule(folder: string, file: string, stripped: StrippedFiles): Promise<LoadedModule> {
  addHooksOnce();
  count += 1;
  const load: ModuleLoad = { folder, files: new Set(), stripped };
  loads.set(String(count), load);
  const exports = (await import(
    `${pathToFileURL(join(folder, file)).href}?${PARAMETER}=${count}`
  )) as LoadedModule['exports'];
  const files = [...load.files].map((path) => pathInFolder(path, folder));
  return { exports, files };
}

let hasHooks = false;

function addHooksOnce(): void {
  if (hasHooks) return;
  hasHooks = true;
  // Agencies import the package by its name. They get the server's own copy, also if it is part of a bundle.
  (globalThis as Record<symbol, unknown>)[PACKAGE] = agencyPackage;
  const names = Object.keys(agencyPackage).join(', ');
  const source = `export const { ${names} } = globalThis[Symbol.for('runwire.agency')];`;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier.startsWith(PACKAGE_IN_FOLDER)) {
        const parts = specifier.slice(PACKAGE_IN_FOLDER.length).split('/').map(decodeURIComponent);
        const [folder = '', name = ''] = parts;
        return nextResolve(name, { ...context, parentURL: pathToFileURL(join(folder, 'package.json')).href });
      }
      const number = getNumber(specifier) ?? getNumber(context.parentURL);
      const load = number === null ? undefined : loads.get(number);
      if (load === undefined) return nextResolve(specifier, context);
      if (specifier === '@runwire/agency') return { url: PACKAGE_URL, format: 'module', shortCircuit: true };
      const resolved = nextResolve(specifier, context);
      const path = resolved.url.startsWith('file:') ? fileURLToPath(resolved.url) : null;
      if (path === null || !isOwn(path, load.folder)) return resolved;
      load.files.add(path);
      const url = new URL(resolved.url);
      url.searchParams.set(PARAMETER, String(number));
      // Without it, a `package.json` of type `commonjs` above the folder decides.
      const isTypeScript = extname(path) === '.ts';
      return { ...resolved, url: url.href, ...(isTypeScript ? { format: 'module-typescript' } : {}) };
    },
    load(url, context, nextLoad) {
      if (url === PACKAGE_URL) return { format: 'module', source, shortCircuit: true };
      const load = loads.get(getNumber(url) ?? '');
      const stripped = load?.stripped.get(pathInFolder(fileURLToPath(url), load.folder));
      if (stripped !== undefined) return { format: 'module', source: stripped, shortCircuit: true };
      return nextLoad(url, context);
    },
  });
}

function getNumber(url: string | undefined): string | null {
  if (url === undefined || !url.startsWith('file:') || !url.includes(`?${PARAMETER}=`)) return null;
  return new URL(url).searchParams.get(PARAMETER);
}

const pathInFolder = (path: string, folder: string) => path.slice(folder.length + 1).replaceAll('\\', '/');

function isOwn(path: string, folder: string): boolean {
  return path.startsWith(folder + sep) && !path.slice(folder.length).includes(`${sep}node_modules${sep}`);
}
