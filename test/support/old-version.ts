import { execFileSync, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LeftOut, Shortfall } from '@runwire/test-kit/shortfall.ts';
import { linkPackages } from './link-packages.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const SERVER = 'packages/server/src';
const STORE = `${SERVER}/store/postgres/postgres-store.ts`;
/** The program that starts a server for a parent process: its path in this version and in earlier versions. */
const ENTRIES = ['packages/test-kit/src/server-main.ts', `${SERVER}/testing/server-main.ts`];
const MIGRATIONS = `${SERVER}/store/migrations`;
/** Settings that several nodes of an earlier version need. A version that does not know one refuses it. */
const EARLIER_SETTINGS = { RUNWIRE_SHARED_DISK: 'true' };
/** Nodes of one generation read and write the same, so a commit of this tree's generation is no earlier version. */
const GENERATION = `${SERVER}/store/generation.ts`;
const INSTALL_MS = 300_000;

function git(...args: readonly string[]): { readonly isGood: boolean; readonly out: string } {
  const { status, stdout } = spawnSync('git', args, { cwd: REPOSITORY, encoding: 'utf8' });
  return { isGood: status === 0, out: stdout };
}

const migrationsIn = (names: readonly string[]) => names.filter((name) => /^\d.*\.ts$/.test(name)).toSorted();

/**
 * The newest commit, along first parents, that has only the first of this tree's migrations, and another generation. A commit
 * that lacks one in the middle is skipped: its databases cannot be migrated. If there is no such commit, it is the newest
 * whose server differs.
 */
function findEarlier(): { readonly commit: string; readonly isOtherSchema: boolean } {
  const has = (commit: string, path: string) => git('cat-file', '-e', `${commit}:${path}`).isGood;
  const migrations = migrationsIn(readdirSync(join(REPOSITORY, MIGRATIONS)));
  let nearest: string | null = null;
  for (const commit of git('rev-list', '--first-parent', 'HEAD').out.split('\n')) {
    if (commit === '' || !has(commit, STORE) || !ENTRIES.some((entry) => has(commit, entry))) break;
    const paths = git('ls-tree', '--name-only', commit, '--', `${MIGRATIONS}/`).out.split('\n');
    const theirs = migrationsIn(paths.map((path) => basename(path)));
    const isBeginning = theirs.every((name, index) => name === migrations[index]);
    const isOtherGeneration = !git('diff', '--quiet', commit, '--', GENERATION).isGood;
    if (isBeginning && theirs.length < migrations.length && isOtherGeneration) return { commit, isOtherSchema: true };
    if (nearest === null && isBeginning && !git('diff', '--quiet', commit, '--', SERVER).isGood) nearest = commit;
  }
  if (nearest !== null) return { commit: nearest, isOtherSchema: false };
  if (git('rev-parse', '--is-shallow-repository').out.trim() !== 'false')
    throw new LeftOut('upgrade: this clone has no earlier commit with the store on PostgreSQL.');
  throw new Shortfall('commits of an earlier version in this clone: expected 1, found 0.');
}

/** True if everything that the older version needs at run time is installed here, in the same versions. */
function canUsePackages(checkout: string): boolean {
  type Lock = { packages: Record<string, { version?: string; dev?: true; link?: true }> };
  const readLock = (folder: string): Lock => JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const own = readLock(REPOSITORY).packages;
  return Object.entries(readLock(checkout).packages).every(
    ([path, { version, dev, link }]) =>
      !path.startsWith('node_modules/') || dev || link || own[path]?.version === version,
  );
}

/** Unpacks the commit, ready to start; nothing of this checkout is touched. */
function unpack(commit: string, folder: string): string {
  const checkout = join(folder, 'runwire');
  const archive = join(folder, 'old.tar');
  const parts = ['packages', 'package.json', 'package-lock.json'];
  execFileSync('git', ['archive', '--prefix=runwire/', '-o', archive, commit, ...parts], { cwd: REPOSITORY });
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  const install = ['ci', '--ignore-scripts', '--omit=dev', '--loglevel=error'];
  if (canUsePackages(checkout)) linkPackages(REPOSITORY, checkout);
  else execFileSync('npm', install, { cwd: checkout, timeout: INSTALL_MS, stdio: 'pipe' });
  return checkout;
}

export type OldVersion = ReturnType<typeof openOldVersion>;

/** An earlier version in a temporary folder. `isOtherSchema`: this version has to change the earlier one's tables. */
export function openOldVersion() {
  const found = findEarlier();
  // The same folder each time, so that Node finds what it has compiled of it; another one while a proof uses it.
  const prefix = join(tmpdir(), 'runwire-old-');
  const same = `${prefix}${hash('sha1', `${REPOSITORY} ${found.commit}`).slice(0, 16)}`;
  const folder = existsSync(same) ? mkdtempSync(prefix) : same;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  using building = new DisposableStack();
  building.defer(() => rmSync(folder, { recursive: true, force: true }));
  const checkout = unpack(found.commit, folder);
  const entry = join(checkout, ENTRIES.find((path) => existsSync(join(checkout, path))) ?? '');
  const settings = readFileSync(join(checkout, SERVER, 'config/read-config.ts'), 'utf8');
  const known = Object.entries(EARLIER_SETTINGS).filter(([name]) => settings.includes(`'${name}'`));
  // The test kit sets `RUNWIRE_SANDBOX`, which a version may refuse. An empty setting counts as not set.
  const env: Record<string, string> = { ...Object.fromEntries(known), RUNWIRE_SANDBOX: '' };
  const stack = building.move();
  return { ...found, entry, env, [Symbol.dispose]: () => stack.dispose() };
}
