import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkPackages } from './link-packages.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const SERVER = 'packages/server/src';
const STORE = `${SERVER}/store/postgres/postgres-store.ts`;
const ENTRY = `${SERVER}/testing/server-main.ts`;
const MIGRATIONS = `${SERVER}/store/migrations`;
const INSTALL_MS = 300_000;

/** An earlier commit of this repository, and whether its database is one that this version has to change. */
export interface EarlierCommit {
  readonly commit: string;
  readonly isOtherSchema: boolean;
}

const git =
  (cwd: string) =>
  (...args: readonly string[]) => {
    const { status, stdout, error } = spawnSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 });
    return { isGood: error === undefined && status === 0, out: stdout ?? '' };
  };

const migrationsIn = (names: readonly string[]) => names.filter((name) => /^\d.*\.ts$/.test(name)).toSorted();

/**
 * Finds the newest commit before this tree, along first parents, that has the store on PostgreSQL and only the first of
 * this tree's migrations. A commit that lacks one in the middle is skipped: two migrations that were written concurrently
 * were merged in the other order, and its databases cannot be migrated. If there is no such commit, it is the newest one
 * whose server differs from this one. If there is neither, returns a sentence with the reason.
 */
export function findEarlierCommit(repository = REPOSITORY): EarlierCommit | string {
  const ask = git(repository);
  if (!ask('rev-parse', '--verify', '--quiet', 'HEAD').isGood) return 'this folder has no history that git can read';
  const hasFile = (commit: string, path: string) => ask('cat-file', '-e', `${commit}:./${path}`).isGood;
  const migrations = migrationsIn(readdirSync(join(repository, MIGRATIONS)));
  let nearest: string | null = null;
  for (const commit of ask('rev-list', '--first-parent', 'HEAD').out.split('\n')) {
    if (commit === '' || !hasFile(commit, STORE) || !hasFile(commit, ENTRY)) break;
    const paths = ask('ls-tree', '--name-only', commit, '--', `./${MIGRATIONS}/`).out.split('\n');
    const theirs = migrationsIn(paths.map((path) => basename(path)));
    const isBeginning = theirs.every((name, index) => name === migrations[index]);
    if (isBeginning && theirs.length < migrations.length) return { commit, isOtherSchema: true };
    if (nearest === null && isBeginning && !ask('diff', '--quiet', commit, '--', SERVER).isGood) nearest = commit;
  }
  if (nearest !== null) return { commit: nearest, isOtherSchema: false };
  return 'this clone has no earlier commit with the store on PostgreSQL';
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly dev?: true; readonly link?: true }>>;
}

/** Whether all that the older version needs to run is installed here, in the same versions. */
function canUsePackages(checkout: string): boolean {
  const [older, own] = [checkout, REPOSITORY].map((folder) => {
    const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock;
    return packages;
  });
  return Object.entries(older ?? {}).every(
    ([path, { version, dev, link }]) =>
      !path.startsWith('node_modules/') || dev || link || own?.[path]?.version === version,
  );
}

function must(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: INSTALL_MS });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`\`${command} ${args[0]}\` ended with ${status}:\n${stderr.slice(-2000)}`);
}

/** The same each time, so that what Node has compiled of it is found again; any, while another proof has that one. */
function folderFor(commit: string): string {
  const place = join(tmpdir(), 'runwire-old-');
  const folder = `${place}${hash('sha1', `${REPOSITORY} ${commit}`).slice(0, 16)}`;
  try {
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  } catch {
    return mkdtempSync(place);
  }
}

/** An earlier version in a temporary folder, ready to be started; nothing of this checkout is touched. */
export class OldVersion implements Disposable {
  /** The program that starts its server for a parent process. */
  readonly entry: string;
  readonly #folder: string;

  constructor(commit: string) {
    this.#folder = folderFor(commit);
    const checkout = join(this.#folder, 'runwire');
    this.entry = join(checkout, ENTRY);
    try {
      const archive = join(this.#folder, 'old.tar');
      const parts = ['packages', 'package.json', 'package-lock.json'];
      must('git', ['archive', '--prefix=runwire/', '-o', archive, commit, ...parts], REPOSITORY);
      must('tar', ['-xf', archive, '-C', this.#folder], this.#folder);
      if (canUsePackages(checkout)) linkPackages(REPOSITORY, checkout);
      else must('npm', ['ci', '--ignore-scripts', '--omit=dev', '--loglevel=error'], checkout);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
