import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHROMIUM } from './services.ts';

const QUIET = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];

/** Debian's Chromium with one page open. */
export class Chromium implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'runwire-chromium-'));
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;

  private constructor(url: string) {
    // Without this port Chromium would print the page and exit.
    const own = ['--remote-debugging-port=0', `--user-data-dir=${this.#folder}`];
    this.#child = spawn(CHROMIUM, [...QUIET, ...own, url], { stdio: 'ignore' });
    this.#gone = new Promise((resolve) => this.#child.once('exit', resolve));
  }

  static open(url: string): Chromium {
    return new Chromium(url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
