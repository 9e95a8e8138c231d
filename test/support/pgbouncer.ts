import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PGBOUNCER } from './services.ts';

const UP_MS = 60_000;

/** A real PgBouncer in transaction mode, with few connections to its database. */
export class PgBouncer implements AsyncDisposable {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(child: ChildProcess, folder: string, port: number) {
    this.#child = child;
    this.#folder = folder;
    this.port = port;
  }

  static async start(databasePort: number): Promise<PgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'runwire-pgbouncer-'));
    const file = join(folder, 'pgbouncer.ini');
    const port = await freePort();
    const settings = [
      '[databases]',
      `* = host=127.0.0.1 port=${databasePort} user=postgres`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 3',
    ];
    writeFileSync(file, `${settings.join('\n')}\n`);
    // PgBouncer runs as another user here, and a command that ran in this process before has set the umask to 077.
    chmodSync(folder, 0o755);
    chmodSync(file, 0o644);
    // PgBouncer refuses to run as root, and ends with the process that started it.
    const as = process.getuid?.() === 0 ? ['--reuid=65534', '--regid=65534', '--clear-groups'] : [];
    const child = spawn('/usr/bin/setpriv', [...as, '--pdeathsig', 'KILL', '--', PGBOUNCER, file], { stdio: 'ignore' });
    for (const until = performance.now() + UP_MS; !(await answers(port)); await sleep(50)) {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended at its start, with ${child.exitCode}.`);
      if (performance.now() > until) throw new Error('PgBouncer did not come up.');
    }
    return new PgBouncer(child, folder, port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
