import { readFileSync, realpathSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The packages that the child imports. `child-permissions.test.ts` compares this list with the imports. */
export const READER_PACKAGES: readonly string[] = ['htmlparser2', 'mammoth', 'unpdf'];

let found: readonly string[] | null = null;

/**
 * Returns the values of `--allow-fs-read` for the process that reads documents: its own code and the packages that this
 * code imports, directly or indirectly.
 */
export function childReads(): readonly string[] {
  found ??= [packageJson, ...[own, ...packageFolders()].map((folder) => join(folder, '*'))];
  return found;
}

const ownFile = realpathSync(fileURLToPath(import.meta.url));
const own = dirname(ownFile);
/** This file tells Node that the code is made of ES modules. */
const packageJson = findPackageJSON(pathToFileURL(ownFile)) ?? ownFile;

/** Returns the folder of each package in `node_modules`, and if that is a link, also the folder to which it leads. */
function packageFolders(): ReadonlySet<string> {
  const folders = new Set<string>();
  const add = (name: string, importer: string) => {
    const file = findPackageJSON(name, pathToFileURL(importer));
    if (file === undefined || folders.has(dirname(file))) return;
    const folder = realpathSync(dirname(file));
    folders.add(dirname(file)).add(folder);
    const { dependencies = {} } = JSON.parse(readFileSync(file, 'utf8')) as { dependencies?: Record<string, string> };
    for (const dependency of Object.keys(dependencies)) add(dependency, join(folder, 'package.json'));
  };
  for (const name of READER_PACKAGES) add(name, ownFile);
  return folders;
}
