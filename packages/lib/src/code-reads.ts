import { readFileSync, realpathSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Returns the values of `--allow-fs-read` for a process whose code is in the folder of `moduleUrl`: this folder, and the
 * packages that the code imports, directly or indirectly.
 */
export function codeReads(moduleUrl: string, packages: readonly string[]): readonly string[] {
  const file = realpathSync(fileURLToPath(moduleUrl));
  // This file tells Node that the code is made of ES modules.
  const packageJson = findPackageJSON(pathToFileURL(file)) ?? file;
  return [packageJson, ...[dirname(file), ...packageFolders(file, packages)].map((folder) => join(folder, '*'))];
}

/** Returns each package's folder in `node_modules`, and if that is a link, also the folder to which it leads. */
function packageFolders(file: string, packages: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  const add = (name: string, importer: string) => {
    const found = findPackageJSON(name, pathToFileURL(importer));
    if (found === undefined || folders.has(dirname(found))) return;
    const folder = realpathSync(dirname(found));
    folders.add(dirname(found)).add(folder);
    const { dependencies = {} } = JSON.parse(readFileSync(found, 'utf8')) as { dependencies?: Record<string, string> };
    for (const dependency of Object.keys(dependencies)) add(dependency, join(folder, 'package.json'));
  };
  for (const name of packages) add(name, file);
  return folders;
}
