import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * Returns a checkout with its dependencies: the given folder, or a temporary worktree of the given commit. The worktree
 * links this checkout's dependencies, but has its own packages.
 */
export function openCheckout(folderOrCommit: string): AsyncDisposable & { readonly folder: string } {
  if (existsSync(resolve(folderOrCommit, 'package.json'))) {
    return { folder: resolve(folderOrCommit), [Symbol.asyncDispose]: async () => {} };
  }
  const temporary = mkdtempSync(join(tmpdir(), 'runwire-bench-version-'));
  const folder = join(temporary, 'checkout');
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const remove = () => {
    git('worktree', 'remove', '--force', folder);
    rmSync(temporary, { recursive: true, force: true });
  };
  git('worktree', 'add', '--quiet', '--detach', folder, folderOrCommit);
  process.once('exit', remove);
  linkModules(folder);
  return {
    folder,
    async [Symbol.asyncDispose]() {
      process.off('exit', remove);
      remove();
    },
  };
}

function linkModules(folder: string): void {
  const own = '@runwire';
  mkdirSync(join(folder, 'node_modules', own), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== own) symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  // A link of npm is relative, so it points to the new checkout's package.
  for (const name of readdirSync(join(root, 'node_modules', own))) {
    symlinkSync(readlinkSync(join(root, 'node_modules', own, name)), join(folder, 'node_modules', own, name));
  }
  for (const modules of globSync('packages/*/node_modules', { cwd: root })) {
    if (existsSync(join(folder, modules, '..'))) symlinkSync(join(root, modules), join(folder, modules));
  }
}
