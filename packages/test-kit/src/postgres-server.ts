import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.ts';

const run = promisify(execFile);
const UP_MS = 60_000;
/** The full path, because it is not on every user's path. */
const SETPRIV = '/usr/bin/setpriv';

/** The folder of Debian's newest PostgreSQL that contains the server. A folder with only the clients does not count. */
export function postgresFolder(): string | null {
  if (!existsSync(SETPRIV)) return null;
  const folders = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return folders.find((folder) => ['postgres', 'initdb'].every((name) => existsSync(join(folder, name)))) ?? null;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root, so it runs as the user that its package made. */
function serverOwner(): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  return { uid: Number(line?.[1] ?? 65_534), gid: Number(line?.[2] ?? 65_534) };
}

/**
 * How PostgreSQL can end in the middle of its work: SIGKILL of the postmaster, an `immediate` stop, or SIGKILL of one
 * backend, after which the postmaster ends all others and recovers.
 */
export type Crash = 'postmaster' | 'immediate' | 'backend';

/** For databases that no test crashes: less WAL, and no work in the background. */
export const SHARED_SETTINGS = {
  wal_level: 'minimal',
  max_wal_senders: '0',
  full_page_writes: 'off',
  autovacuum: 'off',
} as const;

/**
 * A real PostgreSQL for tests, on a free port of this machine; it ends with the process that started it, however that
 * ends.
 */
export class PostgresServer implements AsyncDisposable {
  readonly port: number;
  readonly #bin: string;
  readonly #folder: string;
  readonly #owner: Owner | null;
  readonly #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;

  private constructor(
    bin: string,
    folder: string,
    owner: Owner | null,
    port: number,
    settings: Readonly<Record<string, string>>,
  ) {
    this.#bin = bin;
    this.#folder = folder;
    this.#owner = owner;
    this.port = port;
    this.#settings = settings;
  }

  /** `settings` override the server settings that make tests fast. */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const bin = postgresFolder();
    if (bin === null) throw new Error('PostgreSQL is not installed; get it with: apt-get install -y postgresql');
    const folder = mkdtempSync(join(tmpdir(), 'runwire-postgres-'));
    const owner = serverOwner();
    if (owner !== null) chownSync(folder, owner.uid, owner.gid);
    chmodSync(folder, 0o700);
    const data = join(folder, 'data');
    await run(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
      ...owner,
      cwd: folder,
      // Not `C`: production databases have the collation of a language, and nothing here may depend on it.
      env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' },
    });
    const server = new PostgresServer(bin, folder, owner, await freePort(), settings);
    await server.startAgain();
    return server;
  }

  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts it again after `stop`, on the same data and port. */
  async startAgain(): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: this.port,
      unix_socket_directories: '',
      max_connections: 400,
      fsync: 'off',
      shared_buffers: '32MB',
      ...this.#settings,
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const program = [join(this.#bin, 'postgres'), '-D', join(this.#folder, 'data'), ...options];
    // The kernel tells it when its parent dies. It is set after the change of user, which would clear it.
    const as =
      this.#owner === null ? [] : [`--reuid=${this.#owner.uid}`, `--regid=${this.#owner.gid}`, '--clear-groups'];
    this.#child = spawn(SETPRIV, [...as, '--pdeathsig', 'QUIT', '--', ...program], {
      cwd: this.#folder,
      stdio: 'ignore',
      env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' },
    });
    await this.#untilUp(this.#child);
  }

  async #untilUp(child: ChildProcess): Promise<void> {
    for (const until = performance.now() + UP_MS; ; await sleep(50)) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended at its start, with ${child.exitCode}.`);
      if (await this.#answers()) return;
      if (performance.now() > until) throw new Error('PostgreSQL did not come up.');
    }
  }

  /** Resolves when PostgreSQL has recovered and answers again. Transactions whose WAL was not flushed are lost. */
  async crash(way: Crash): Promise<void> {
    const child = this.#child;
    if (child === null) throw new Error('PostgreSQL is not running.');
    const children = listChildren(child.pid ?? 0);
    if (way === 'backend') {
      const backend = children.find((pid) => getTitle(pid)?.includes('127.0.0.1('));
      if (backend === undefined) throw new Error('PostgreSQL has no connection whose backend could be killed.');
      process.kill(backend, 'SIGKILL');
    } else await this.stop(way === 'postmaster' ? 'SIGKILL' : 'SIGQUIT');
    // The next start is refused while one of them has the shared memory.
    while (children.some((pid) => getTitle(pid) !== null)) await sleep(5);
    if (way === 'backend') await this.#untilUp(child);
    else await this.startAgain();
  }

  async #answers(): Promise<boolean> {
    try {
      await this.query('select 1');
      return true;
    } catch {
      return false;
    }
  }

  /** Runs a query as the administrator. */
  query(text: string, database?: string): Promise<Record<string, unknown>[]> {
    return askDatabase(this.url(database), text);
  }

  /** Makes an empty database; resolves to its address. */
  async database(): Promise<string> {
    // The name is unique among all servers: a database is known by its name, also through a proxy, and has its own
    // folder.
    return makeDatabase(this.url(), `test_${randomBytes(8).toString('hex')}`);
  }

  /**
   * Without a shutdown: SIGQUIT is PostgreSQL's `immediate` stop, which ends every connection and writes no
   * checkpoint.
   */
  async stop(signal: 'SIGQUIT' | 'SIGKILL' = 'SIGQUIT'): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }

  /** From now on PostgreSQL does not keep this process alive. */
  unref(): void {
    this.#child?.unref();
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/**
 * Not every kernel lists a process's children, but each process names its parent, after its own name in brackets.
 */
function listChildren(parent: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    try {
      return Number(/\) . (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]) === parent;
    } catch {
      return false;
    }
  });
}

/** Returns null if there is no such process, or only its exit status is left. */
function getTitle(pid: number): string | null {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return title === '' ? null : title;
  } catch {
    return null;
  }
}

/** Runs one statement on a new connection. */
export async function askDatabase(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

export async function makeDatabase(adminUrl: string, name: string, template = 'template0'): Promise<string> {
  const [database, from] = [name, template].map((one) => pg.escapeIdentifier(one));
  // Measured: 30 CPU ms instead of 190, because the copy is not written to the WAL.
  await askDatabase(adminUrl, `create database ${database} template ${from} strategy file_copy`);
  return databaseUrl(adminUrl, name);
}

export async function dropDatabase(adminUrl: string, url: string): Promise<void> {
  const name = pg.escapeIdentifier(new URL(url).pathname.slice(1));
  await askDatabase(adminUrl, `drop database if exists ${name} with (force)`);
}

/** Any number that is the same in every process. */
const TEMPLATE_LOCK = 7_340_113;

/**
 * Makes a template database. If several processes need it concurrently, one makes it and the others wait. It is
 * renamed when it is complete.
 */
export async function makeTemplate(
  adminUrl: string,
  name: string,
  fill: (url: string) => Promise<void>,
): Promise<string> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(`select pg_advisory_lock(${TEMPLATE_LOCK})`);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount !== 0) return name;
    const unfinished = await makeDatabase(adminUrl, `${name}_${process.pid}`);
    await fill(unfinished);
    await client.query(`alter database ${name}_${process.pid} rename to ${pg.escapeIdentifier(name)}`);
    return name;
  } finally {
    await client.end();
  }
}
