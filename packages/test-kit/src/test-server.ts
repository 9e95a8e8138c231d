import { fork } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { startWithOverrides } from '@runwire/server/src/testing/start-with-overrides.ts';
import {
  ApiClient,
  scriptedModel,
  TEST_API_KEY,
  TestServer,
  type TestServerOptions,
  temporaryFolder,
} from '@runwire/server/testing';
import { plantedFault, scale } from './scale.ts';
import { ARM, type FillAt, LOOP, MEMORY, type ProcessOptions, SWEEP, TEST_AGENCIES } from './server-process.ts';
import { copyEmbeddedTemplate, forgetStore, type StoreName, storeEnvironment } from './test-store.ts';

export interface StoreTestServerOptions extends TestServerOptions, Overrides {
  /** SQLite by default. `env.DATABASE_URL` overrides it. */
  readonly store?: StoreName;
  /** Another fault than the planted one; null for none. */
  readonly fault?: string | null;
}

/** Half of a start is loading modules. With compiled code in this cache, loading takes a third of the time. */
const compileCache = process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), `runwire-compile-cache-${userInfo().uid}`);

async function environment(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  store?: StoreName,
): Promise<Record<string, string>> {
  const database = env.DATABASE_URL === undefined ? await storeEnvironment(dataDir, store) : {};
  return {
    PORT: '0',
    RUNWIRE_DATA_DIR: dataDir,
    RUNWIRE_API_KEY: TEST_API_KEY,
    RUNWIRE_LOG_LEVEL: 'silent',
    // Its trial would cost every test a process.
    RUNWIRE_SANDBOX: 'off',
    // The processes of agencies inherit it: one from the sources takes 0.06 CPU seconds to start instead of 0.32.
    NODE_COMPILE_CACHE: compileCache,
    ...database,
    ...env,
  };
}

const foldersOfDatabases = new Map<string, string>();

/** The servers of one database share their folder, also one after the other. */
function folderOfDatabase(databaseUrl: string): string {
  const database = new URL(databaseUrl).pathname;
  const known = foldersOfDatabases.get(database);
  if (known !== undefined) return known;
  const folder = temporaryFolder();
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  foldersOfDatabases.set(database, folder);
  return folder;
}

/** Requests that wait for each other are not refused on a slow machine. */
const LONG_DATABASE_TIMES = { idleInTransactionMs: 60_000, lockMs: 60_000, statementMs: 60_000, answerMs: 70_000 };

/** A hash costs 0.1 s of a CPU in production. Servers in processes of their own have that cost, and all at full scale. */
const CHEAP_HASHES = scale({ hashCost: { memory: 64, passes: 1 } }, {});

/** The real server in this process, on a free port, on the options' store. */
export async function startTestServer(options: StoreTestServerOptions = {}): Promise<TestServer> {
  const shared = options.env?.DATABASE_URL ?? '';
  const ownFolder = shared === '' ? temporaryFolder : () => folderOfDatabase(shared);
  const { dataDir = ownFolder(), env, store, fault = plantedFault(), ...given } = options;
  const overrides = fault === null ? given : (await import('./faults/faults.ts')).plantFault(fault, given);
  const settings = await environment(dataDir, env, store);
  if (options.dataDir === undefined && (settings.DATABASE_URL ?? '') === '') await copyEmbeddedTemplate(dataDir);
  const server = await startWithOverrides(settings, {
    databaseTimes: LONG_DATABASE_TIMES,
    heartbeatThread: scale(false, true),
    ...CHEAP_HASHES,
    ...overrides,
  });
  return new TestServer(server, dataDir, async () => {
    if (options.dataDir !== undefined || shared !== '') return;
    rmSync(dataDir, { recursive: true, force: true });
    await forgetStore(dataDir);
  });
}

/**
 * The gate and `npm run check:full` set it after their build. A server from the build takes 0.3 s of CPU to start, one from
 * the sources 1.2 s.
 */
const usesBuild = process.env.TEST_BUILD !== undefined;
const SERVER_MAIN = fileURLToPath(new URL(usesBuild ? '../dist/server-main.js' : './server-main.ts', import.meta.url));

export interface SpawnOptions extends ProcessOptions, Pick<StoreTestServerOptions, 'env' | 'store'> {
  readonly dataDir: string;
  /** Another program that starts the server, to plant a fault. */
  readonly entry?: string;
  /** True if the answers are those of an earlier version: they are not checked against today's description. */
  readonly isEarlier?: boolean;
}

/** Earlier versions send no link. */
interface StartMessage {
  readonly url: string;
  readonly setupLink?: string | null;
}

/** What tests need of a server, in this process or in its own. */
export interface RigServer {
  readonly api: ApiClient;
  readonly url: string;
  readonly pid: number;
  readonly setupLink: string | null;
  probe(): Promise<ServerFigures>;
  sweepBlobs(): Promise<number>;
  kill(): Promise<unknown>;
}

interface ServerFigures {
  readonly activeRuns: number;
  readonly openStreams: number;
  readonly fullStreams: number;
  readonly rssBytes: number;
}

/** The server of `ServerProcess.start` in this process. Its start costs a tenth, but it cannot be killed or stopped. */
export async function startHere(options: SpawnOptions): Promise<RigServer> {
  const { dataDir, env, store, fault = null, controllerPort, limits, withTestAgencies, ...rest } = options;
  const unknown = Object.keys(rest);
  if (unknown.length > 0) throw new Error(`Only a server in its own process has ${unknown.join(', ')}.`);
  const { server, api } = await startTestServer({
    dataDir,
    fault,
    ...(env === undefined ? {} : { env }),
    ...(store === undefined ? {} : { store }),
    ...(limits === undefined ? {} : { limits }),
    agencies: withTestAgencies === false ? {} : TEST_AGENCIES,
    ...(controllerPort === undefined ? {} : { model: scriptedModel(controllerPort) }),
  });
  const { activeRuns, openStreams, fullStreams, sweepBlobs } = server.probes;
  let ended: PromiseLike<void> | undefined;
  return {
    api,
    url: api.url,
    pid: process.pid,
    setupLink: server.setupLink,
    probe: async () => ({
      activeRuns: activeRuns(),
      openStreams: openStreams(),
      fullStreams: fullStreams(),
      rssBytes: process.memoryUsage.rss(),
    }),
    sweepBlobs,
    kill: async () => {
      ended ??= server[Symbol.asyncDispose]();
      await ended;
    },
  };
}

/** The real server in its own process, which a test can kill. */
export class ServerProcess implements AsyncDisposable, RigServer {
  readonly #child: ReturnType<typeof fork>;
  readonly api: ApiClient;
  readonly url: string;
  readonly pid: number;
  /** The link with which the first owner sets a password; null if an earlier start has made it. */
  readonly setupLink: string | null;
  /** Resolves when the process has ended, with the signal that ended it. */
  readonly gone: Promise<NodeJS.Signals | null>;
  readonly #output: () => string;

  private constructor(
    child: ReturnType<typeof fork>,
    api: ApiClient,
    gone: Promise<NodeJS.Signals | null>,
    { output, setupLink }: { readonly output: () => string; readonly setupLink: string | null },
  ) {
    this.#child = child;
    this.#output = output;
    this.setupLink = setupLink;
    this.url = api.url;
    this.api = api;
    this.pid = child.pid ?? 0;
    this.gone = gone;
  }

  /** Rejects with the output of the process if it does not start. */
  static async start(options: SpawnOptions): Promise<ServerProcess> {
    const { dataDir, env, store, entry = SERVER_MAIN, isEarlier = false, ...rest } = options;
    const child = fork(entry, [JSON.stringify(rest)], {
      execArgv: entry.endsWith('.ts') ? ['-C', 'runwire'] : [],
      env: {
        PATH: process.env.PATH ?? '',
        ...(await environment(dataDir, env, store)),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const gone = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)));
    const { url, setupLink } = await new Promise<StartMessage>((resolve, reject) => {
      child.once('message', (message) => resolve(message as StartMessage));
      child.once('exit', () => reject(new Error(`The server did not start: ${output}`)));
    });
    const api = new ApiClient(url, TEST_API_KEY, !isEarlier);
    return new ServerProcess(child, api, gone, { output: () => output, setupLink: setupLink ?? null });
  }

  /** The process's output so far. It includes the log if `RUNWIRE_LOG_LEVEL` is set. */
  get output(): string {
    return this.#output();
  }

  /** Asks the process for its own figures. */
  probe(): Promise<ServerFigures> {
    return this.#ask('probe');
  }

  /** Resolves to the bytes of heap and buffers that are in use after a garbage collection. */
  async usedBytes(): Promise<number> {
    return (await this.#ask<{ usedBytes: number }>(MEMORY)).usedBytes;
  }

  /** Sweeps files without references. Resolves to their number. */
  async sweepBlobs(): Promise<number> {
    return (await this.#ask<{ swept: number }>(SWEEP)).swept;
  }

  /** Resolves to the longest turn of the event loop since the last call, in CPU time. The first call begins to watch. */
  async longestTurnMs(): Promise<number> {
    return (await this.#ask<{ longestTurnMs: number }>(LOOP)).longestTurnMs;
  }

  /** Rejects if the process ends before it answers. */
  #ask<T>(question: string): Promise<T> {
    const answer = new Promise<T>((resolve) => this.#child.once('message', (message) => resolve(message as T)));
    const ended = this.gone.then((signal) => {
      throw new Error(`The server ended (${signal}) before it answered: ${this.output}`);
    });
    // `ended` reports a closed channel's error.
    this.#child.send(question, () => {});
    return Promise.race([answer, ended]);
  }

  /** From now on the process counts how often it reaches its `stopAt`. */
  arm(): void {
    this.#child.send(ARM);
  }

  /** The server fills its disk when it next reaches this point; `fill` of its options names the file. */
  fillAt(fillAt: FillAt['fillAt']): void {
    this.#child.send({ fillAt } satisfies FillAt);
  }

  /** Stops all its threads; `unfreeze` continues them. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  unfreeze(): void {
    this.#child.kill('SIGCONT');
  }

  /** True while the process is stopped. */
  get isStill(): boolean {
    // The state is the letter after the name, which is in brackets.
    return /\) T/.test(readFileSync(`/proc/${this.pid}/stat`, 'utf8'));
  }

  /** False if the process has ended. */
  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#child.kill(signal);
    await this.gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
