import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkPackages } from './link-packages.ts';
import { LeftOut, Shortfall } from './proof.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const SERVER = 'packages/server/src';
const STORE = `${SERVER}/store/postgres/postgres-store.ts`;
/** The program that starts a server for a parent process: its path in this version and in earlier versions. */
const ENTRIES = ['packages/test-kit/src/server-main.ts', `${SERVER}/testing/server-main.ts`];
const MIGRATIONS = `${SERVER}/store/migrations`;
/** Settings that the rig gives every server. A version that does not know one refuses it, so it gets none. */
const LATER_SETTINGS = ['RUNWIRE_SHARED_DISK'];
const INSTALL_MS = 300_000;

function run(command: string, args: readonly string[], cwd = REPOSITORY) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: INSTALL_MS });
  return { isGood: error === undefined && status === 0, out: stdout ?? '', problem: error?.message ?? stderr };
}

function must(command: string, args: readonly string[], cwd: string): void {
  const { isGood, problem } = run(command, args, cwd);
  if (!isGood) throw new Error(`\`${command} ${args[0]}\` failed: ${problem.slice(-2000)}`);
}

const git = (...args: readonly string[]) => run('git', args);
const migrationsIn = (names: readonly string[]) => names.filter((name) => /^\d.*\.ts$/.test(name)).toSorted();

/**
 * The newest commit, along first parents, that has only the first of this tree's migrations. A commit that lacks one in the
 * middle is skipped: its databases cannot be migrated. If there is no such commit, it is the newest whose server differs.
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
    if (isBeginning && theirs.length < migrations.length) return { commit, isOtherSchema: true };
    if (nearest === null && isBeginning && !git('diff', '--quiet', commit, '--', SERVER).isGood) nearest = commit;
  }
  if (nearest !== null) return { commit: nearest, isOtherSchema: false };
  const isWhole = git('rev-parse', '--is-shallow-repository').out.trim() === 'false';
  if (!isWhole) throw new LeftOut('upgrade: this clone has no earlier commit with the store on PostgreSQL.');
  throw new Shortfall('commits of an earlier version in this clone: expected 1, found 0.');
}

/** True if everything that the older version needs at run time is installed here, in the same versions. */
function canUsePackages(checkout: string): boolean {
  type Lock = { packages: Record<string, { version?: string; dev?: true; link?: true }> };
  const [older, own] = [checkout, REPOSITORY].map(
    (folder) => (JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock).packages,
  );
  return Object.entries(older ?? {}).every(
    ([path, { version, dev, link }]) =>
      !path.startsWith('node_modules/') || dev || link || own?.[path]?.version === version,
  );
}

/** An earlier version in a temporary folder, ready to start; nothing of this checkout is touched. */
export class OldVersion implements Disposable {
  readonly commit: string;
  /** True if this version has to change the tables of the earlier one. */
  readonly isOtherSchema: boolean;
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #folder: string;

  constructor() {
    const { commit, isOtherSchema } = findEarlier();
    this.commit = commit;
    this.isOtherSchema = isOtherSchema;
    // The same folder each time, so that Node finds what it has compiled of it; another one while a proof uses it.
    const prefix = join(tmpdir(), 'runwire-old-');
    const folder = `${prefix}${hash('sha1', `${REPOSITORY} ${commit}`).slice(0, 16)}`;
    this.#folder = existsSync(folder) ? mkdtempSync(prefix) : folder;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const checkout = join(this.#folder, 'runwire');
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
    this.entry = join(checkout, ENTRIES.find((entry) => existsSync(join(checkout, entry))) ?? '');
    const settings = readFileSync(join(checkout, SERVER, 'config/read-config.ts'), 'utf8');
    const unknown = LATER_SETTINGS.filter((name) => !settings.includes(`'${name}'`));
    this.env = Object.fromEntries(unknown.map((name) => [name, '']));
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
