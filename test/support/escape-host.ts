import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';

/** The variable of the server that no command may see. */
export const PLANTED = 'RUNWIRE_PLANTED_SECRET';
/** The descriptor of the server that no command may have. */
export const PLANTED_DESCRIPTOR = 20;

/** What commands must not reach on a server's machine: secrets in files, and listeners. All of its users may reach it. */
export class EscapeHost implements AsyncDisposable {
  readonly #secret: string;
  readonly #root: string;
  readonly #shared: string;
  readonly #abstract = `runwire-escape-${process.pid}`;
  readonly #heard: string[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #servers: Server[] = [];
  readonly #udp = createSocket('udp4');
  #tcpPort = 0;

  private constructor(secret: string, root: string) {
    this.#secret = secret;
    this.#root = root;
    this.#shared = join('/dev/shm', `runwire-escape-${process.pid}.txt`);
  }

  /** The environment of this process and a file that it has open already contain `secret`, its command line `root`. */
  static async open(secret: string, root: string): Promise<EscapeHost> {
    const host = new EscapeHost(secret, root);
    host.plant();
    await host.#listen();
    return host;
  }

  /** Writes all files again as they were. */
  plant(): void {
    const files = {
      'host.txt': this.#secret,
      'data/runwire.db': this.#secret,
      'agencies/clerk/.env': `TOKEN=${this.#secret}`,
      'agencies/clerk/agency.yaml': 'name: Clerk',
    };
    for (const [path, text] of Object.entries(files)) write(join(this.#root, path), text);
    write(this.#shared, this.#secret);
  }

  async #listen(): Promise<void> {
    const hear = (bytes: Buffer) => this.#heard.push(bytes.toString('latin1'));
    const listen = async (where: { port: number; host: string } | { path: string }) => {
      const server = createServer((socket) => {
        this.#sockets.add(socket);
        socket.on('data', hear).on('error', () => {});
      });
      this.#servers.push(server.listen(where));
      await once(server, 'listening');
      return server.address();
    };
    const socket = join(this.#root, 'socket');
    this.#tcpPort = ((await listen({ port: 0, host: '127.0.0.1' })) as AddressInfo).port;
    await listen({ path: `\0${this.#abstract}` });
    await listen({ path: socket });
    chmodSync(socket, 0o777);
    this.#udp.on('message', hear).bind(0, '127.0.0.1');
    await once(this.#udp, 'listening');
  }

  /** Reversed, because a command line shows its text in `/proc`. */
  get #reversed(): string {
    return [...this.#root].reverse().join('');
  }

  variables(token: string): Record<string, string> {
    return {
      HOST: this.#root,
      HOST_FILE: join(this.#root, 'host.txt'),
      HOST_REVERSED: this.#reversed,
      HOST_NAME: hostname(),
      SHM_FILE: this.#shared,
      DATA: join(this.#root, 'data'),
      AGENCY: join(this.#root, 'agencies/clerk'),
      DROP: join(this.#root, `drop-${token}`),
      SERVER: String(process.pid),
      TCP_PORT: String(this.#tcpPort),
      UDP_PORT: String(this.#udp.address().port),
      ABSTRACT: this.#abstract,
      SOCKET: join(this.#root, 'socket'),
    };
  }

  hasSecret(text: string): boolean {
    return text.includes(this.#secret);
  }

  hasHeard(token: string): boolean {
    return this.#heard.some((text) => text.includes(token));
  }

  /** True if one of the files contains the token. */
  hasChanged(token: string, more: readonly string[]): boolean {
    const own = [`drop-${token}`, 'data/runwire.db', 'agencies/clerk/agency.yaml'].map((path) =>
      join(this.#root, path),
    );
    return [...own, ...more].some((path) => existsSync(path) && readFileSync(path, 'utf8').includes(token));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) server.close();
    this.#udp.close();
    rmSync(this.#shared, { force: true });
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${text}\n`);
  chmodSync(path, 0o666);
}

export const newToken = () => randomBytes(12).toString('hex');

/** A process of the server's user that commands try to end. */
export class Victim implements Disposable {
  readonly #child: ChildProcess = spawn('/bin/sleep', ['120'], { stdio: 'ignore' });

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL');
  }
}
