import { hash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Not in `dist/`, which is published. */
const STAMP = '.work/build.json';
/** If it was deleted, there is no build. */
const BUILT = 'packages/cli/dist/main.js';
/** Everything that the build reads. */
const SOURCES = [
  'packages/!(console)/src/**/*',
  'packages/console/built/**/*',
  'packages/*/package.json',
  'package-lock.json',
  'scripts/build/*.ts',
];

interface Stamp {
  /** When the build began: a file that changed later is not in it. */
  readonly startedAt: number;
  /** A digest of the names of all sources: a file may have appeared, or be gone. */
  readonly names: string;
}

const sources = (root: string): string[] =>
  globSync(SOURCES, { cwd: root, exclude: (path) => path.endsWith('.test.ts') }).map((path) => join(root, path));

const digest = (root: string, files: readonly string[]): string =>
  hash(
    'sha256',
    files
      .map((path) => relative(root, path))
      .sort()
      .join('\n'),
  );

/** While a build is in progress, no build is current. */
export function removeStamp(root: string): void {
  rmSync(join(root, STAMP), { force: true });
}

export function writeStamp(root: string, startedAt: number): void {
  const stamp: Stamp = { startedAt, names: digest(root, sources(root)) };
  mkdirSync(dirname(join(root, STAMP)), { recursive: true });
  writeFileSync(join(root, STAMP), JSON.stringify(stamp));
}

/** True if `dist/` was made from the sources as they are now. */
export function isBuildCurrent(root: string): boolean {
  if (!existsSync(join(root, BUILT))) return false;
  let stamp: Stamp;
  try {
    stamp = JSON.parse(readFileSync(join(root, STAMP), 'utf8'));
  } catch {
    return false;
  }
  const files = sources(root);
  return digest(root, files) === stamp.names && files.every((path) => statSync(path).mtimeMs < stamp.startedAt);
}
