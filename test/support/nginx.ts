import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, temporaryFolder } from '@runwire/test-kit';
import { missingService, NGINX } from './services.ts';

const DEBIAN_CONFIGURATION = '/etc/nginx/nginx.conf';
const TRIES = 5;

function replaceLine(text: string, line: RegExp, by: string): string {
  if (!line.test(text)) throw new Error(`Debian's nginx.conf: expected a line ${line}, found none.`);
  return text.replace(line, by);
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** The lines for `http` that say where nginx writes temporary files, if it does not run as root. */
export function temporaryPaths(folder: string): string {
  return process.getuid?.() === 0 ? '' : TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
}

interface NginxSite {
  readonly prefix: string;
  readonly more: string;
}

/**
 * Debian's own file with its own settings. Only its folders, its port and, without root, its user differ. Its only site
 * forwards everything below the prefix, without the prefix.
 */
function configuration(folder: string, port: number, upstream: string, { prefix, more }: NginxSite): string {
  let text = readFileSync(DEBIAN_CONFIGURATION, 'utf8');
  text = replaceLine(text, /^pid .*$/m, `pid ${folder}/nginx.pid;`);
  text = replaceLine(text, /^\s*error_log .*$/m, `error_log ${folder}/error.log;`);
  text = replaceLine(text, /^\s*access_log .*$/m, `access_log ${folder}/access.log;`);
  if (process.getuid?.() !== 0) text = replaceLine(text, /^user .*$/m, '');
  // With a path in `proxy_pass`, nginx puts it in the prefix's place.
  const target = prefix === '/' ? upstream : `${upstream}/`;
  const site = `server { listen 127.0.0.1:${port}; location ${prefix} { proxy_pass ${target}; ${more} } }`;
  return replaceLine(text, /^\s*include \/etc\/nginx\/sites-enabled\/\*;$/m, `${temporaryPaths(folder)} ${site}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Debian's nginx in front of servers. */
export class Nginx implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #folder: string;

  private constructor(url: string, child: ChildProcess, gone: Promise<void>, folder: string) {
    this.url = url;
    this.#child = child;
    this.#gone = gone;
    this.#folder = folder;
  }

  /**
   * Starts nginx as Debian ships it, in front of one server. `more` is added to its only `location`, and `prefix` is the
   * path of this location, with a slash at both ends.
   */
  static start(upstream: string, more = '', prefix = '/'): Promise<Nginx> {
    return Nginx.startWith((folder, port) => configuration(folder, port, upstream, { prefix, more }));
  }

  /** Starts nginx with another configuration, which writes to this folder and listens on this port. */
  static async startWith(configure: (folder: string, port: number) => string): Promise<Nginx> {
    const missing = await missingService('nginx');
    if (missing !== null) throw new Error(`${missing}.`);
    let output = '';
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const port = await freePort();
      const folder = temporaryFolder();
      mkdirSync(folder, { recursive: true });
      const file = join(folder, 'nginx.conf');
      writeFileSync(file, configure(folder, port));
      const child = spawn(NGINX, ['-c', file, '-e', join(folder, 'error.log'), '-g', 'daemon off;'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child.stderr.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
      let isGone = false;
      const gone = new Promise<void>((resolve) =>
        child.once('close', () => {
          isGone = true;
          resolve();
        }),
      );
      while (!isGone) {
        if (await accepts(port)) return new Nginx(`http://127.0.0.1:${port}`, child, gone, folder);
        await sleep(20);
      }
      // Another process may have taken the port: try another one.
      rmSync(folder, { recursive: true, force: true });
    }
    throw new Error(`nginx: expected to start, found: ${output.trim()}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#gone;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
