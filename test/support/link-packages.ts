import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Links `path` there, unless a package of the checkout is already linked. */
function link(path: string, place: string): void {
  mkdirSync(dirname(place), { recursive: true });
  if (existsSync(path) && !existsSync(place)) symlinkSync(path, place);
}

/** Gives a checkout the packages that are installed in another, and its own in place of that one's own. */
export function linkPackages(from: string, checkout: string): void {
  const modules = join(checkout, 'node_modules');
  for (const folder of readdirSync(join(checkout, 'packages'))) {
    const path = join('packages', folder);
    const manifest = join(checkout, path, 'package.json');
    // The Python client is not a package of npm.
    if (!existsSync(manifest)) continue;
    const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { name: string };
    link(join(checkout, path), join(modules, name));
    // Packages of which the root has another version.
    link(join(from, path, 'node_modules'), join(checkout, path, 'node_modules'));
  }
  const installed = join(from, 'node_modules');
  for (const name of readdirSync(installed)) link(join(installed, name), join(modules, name));
}
