import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Gives a checkout the packages that are installed in another, and its own in place of that one's own. */
export function linkPackages(from: string, checkout: string): void {
  const installed = join(from, 'node_modules');
  const modules = join(checkout, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(installed)) {
    if (name !== '@runwire') symlinkSync(join(installed, name), join(modules, name));
  }
  mkdirSync(join(modules, '@runwire'));
  for (const folder of readdirSync(join(checkout, 'packages'))) {
    const path = join(checkout, 'packages', folder);
    const { name } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { name: string };
    symlinkSync(path, join(modules, name));
  }
}
