import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ApiClient, forgetStore, type StoreName, storeEnvironment, temporaryFolder } from '@runwire/test-kit';

/** The repository's root. */
export const root = join(import.meta.dirname, '../..');

/** This cache halves the CPU time of a start. All processes of the gate share it. */
export const compileCache = process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'runwire-test-compile-cache');

const usesBuild = process.env.TEST_BUILD !== undefined;
/** Lets Node load the packages from their sources, unless there is a build. See `TEST_BUILD` in the test kit. */
export const sourceArguments: readonly string[] = usesBuild ? [] : ['-C', 'runwire'];
const command = [...sourceArguments, join(root, usesBuild ? 'packages/cli/dist/main.js' : 'packages/cli/src/main.ts')];

/** The program and arguments of `runwire serve`. */
export const serve: readonly [string, ...string[]] = [process.execPath, ...command, 'serve'];

export interface CliOptions {
  /** All variables of the process, in addition to the path and the store. */
  readonly env?: Readonly<Record<string, string>>;
  readonly store?: StoreName;
  readonly cwd?: string;
  readonly nodeArgs?: readonly string[];
  /** Standard input. Without it the input is closed. */
  readonly input?: string;
}

export interface ProcessResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Adds the data folder's database, unless the settings name one. */
async function withStore(options: CliOptions): Promise<CliOptions> {
  const dataDir = options.env?.RUNWIRE_DATA_DIR ?? join(options.cwd ?? root, '.runwire');
  return { ...options, env: { ...(await storeEnvironment(dataDir, options.store)), ...options.env } };
}

function start(program: string, args: readonly string[], options: CliOptions): ChildProcess {
  const child = spawn(program, args, {
    cwd: options.cwd ?? root,
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: compileCache, ...options.env },
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(options.input);
  return child;
}

function exited(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

/** Runs any program to its end. */
export function run(program: string, args: readonly string[], options: CliOptions = {}): Promise<ProcessResult> {
  return toResult(start(program, args, options));
}

async function toResult(child: ChildProcess): Promise<ProcessResult> {
  const [end, stdout, stderr] = await Promise.all([
    exited(child),
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
  ]);
  return { ...end, stdout, stderr };
}

/** Runs `runwire …` to its end, with the Node that runs this test. */
export async function runwire(args: readonly string[], options: CliOptions = {}): Promise<ProcessResult> {
  return run(process.execPath, [...(options.nodeArgs ?? []), ...command, ...args], await withStore(options));
}

/** A `runwire …` that runs, for tests that send signals to it. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly result: Promise<ProcessResult>;
}

/** Starts a `runwire …` that asks a server; it needs no store of its own. */
export function startRunwire(args: readonly string[], options: CliOptions = {}): RunningCommand {
  const child = start(process.execPath, [...(options.nodeArgs ?? []), ...command, ...args], options);
  return { child, result: toResult(child) };
}

/** `runwire serve`, or another program that starts the server, started as a person starts it. */
export class CliServer implements AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #end: ReturnType<typeof exited>;
  readonly #said: { stdout: string; stderr: string };

  private constructor(
    child: ChildProcess,
    end: ReturnType<typeof exited>,
    said: { stdout: string; stderr: string },
    url: string,
  ) {
    this.#child = child;
    this.#end = end;
    this.#said = said;
    this.url = url;
    this.pid = child.pid ?? 0;
  }

  /** Resolves after it has printed its whole start message. */
  static async start(
    options: CliOptions = {},
    program: readonly [string, ...string[]] = [process.execPath, ...(options.nodeArgs ?? []), ...command, 'serve'],
  ): Promise<CliServer> {
    const [name, ...args] = program;
    const { env, ...rest } = await withStore(options);
    const child = start(name, args, { ...rest, env: { PORT: '0', RUNWIRE_LOG_LEVEL: 'silent', ...env } });
    const end = exited(child);
    const said = { stdout: '', stderr: '' };
    child.stderr?.on('data', (chunk: Buffer) => {
      said.stderr += chunk.toString();
    });
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        said.stdout += chunk.toString();
        const listens = /listens on (\S+)\n/.exec(said.stdout);
        if (listens?.[1] !== undefined) resolve(listens[1]);
      });
      end.then(() => reject(new Error(`The server did not come up: ${said.stdout}${said.stderr}`)), reject);
    });
    // The server prints the rest in the same turn and answers a request in a later one, so the rest is in the pipe by
    // then.
    await fetch(`${url}/healthz`);
    await setTimeout(20);
    return new CliServer(child, end, said, url);
  }

  get stdout(): string {
    return this.#said.stdout;
  }

  get stderr(): string {
    return this.#said.stderr;
  }

  api(apiKey: string | null): ApiClient {
    return new ApiClient(this.url, apiKey);
  }

  /** Sends the signal and waits for the end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<ProcessResult> {
    this.#child.kill(signal);
    return { ...(await this.#end), ...this.#said };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.stop('SIGKILL');
  }
}

/** Matches texts in our keys' form. */
export function keysIn(text: string): string[] {
  return [...new Set(text.match(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g) ?? [])];
}

/** A folder that is deleted with the test. */
export function getFolder(t: TestContext): string {
  const folder = temporaryFolder();
  t.after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await forgetStore(folder);
  });
  return folder;
}
