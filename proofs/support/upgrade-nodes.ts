import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, ServerProcess } from '@runwire/test-kit';
import { startServer } from './start-server.ts';

const PAUSE_MS = 50;
export const pause = () => sleep(PAUSE_MS);

/** Runs that are not done by then are left to others. */
const DRAIN_SECONDS = '2';

/** Settings that tests give every server, and an earlier version may not know and would refuse. */
const LATER_SETTINGS = ['RUNWIRE_SHARED_DISK'];

/** Those of them that the version of this entry does not know, set to nothing. */
export function unknownThen(oldEntry: string): Record<string, string> {
  const known = readFileSync(join(dirname(oldEntry), '..', 'config', 'read-config.ts'), 'utf8');
  return Object.fromEntries(LATER_SETTINGS.filter((name) => !known.includes(`'${name}'`)).map((name) => [name, '']));
}

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of two versions, of which each may have fields of its own.
  readonly body: any;
}

/** One server of either version. */
export class UpgradeNode {
  readonly isOld: boolean;
  readonly process: ServerProcess;
  /** From the signal on. */
  isStopping = false;

  constructor(process: ServerProcess, isOld: boolean) {
    this.process = process;
    this.isOld = isOld;
  }

  get api(): ApiClient {
    return this.process.api;
  }

  /** Null: nobody was there, or it went away. The answer is held against no schema: it may be an older version's. */
  async ask(method: string, path: string, body?: unknown): Promise<Answered | null> {
    try {
      const response = await fetch(this.api.url + path, {
        method,
        headers: { ...this.api.authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      return null;
    }
  }
}

export interface NodesOptions {
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly controllerPort: number;
  /** Of both versions; an older one knows some of them. */
  readonly limits: NonNullable<Parameters<typeof startServer>[1]['limits']>;
  readonly oldEntry: string;
  readonly fault: string | null;
}

/** All servers on the one database, as a backend knows them: it asks one after the other, whatever their version. */
export class UpgradeNodes implements AsyncDisposable {
  readonly #options: NodesOptions;
  readonly #all: UpgradeNode[] = [];
  #open: UpgradeNode[] = [];
  #turn = 0;

  constructor(options: NodesOptions) {
    this.#options = options;
  }

  startOld(): Promise<UpgradeNode> {
    return this.#start(true);
  }

  startNew(): Promise<UpgradeNode> {
    return this.#start(false);
  }

  async #start(isOld: boolean): Promise<UpgradeNode> {
    const { databaseUrl, dataDir, controllerPort, limits, oldEntry, fault } = this.#options;
    const env = { DATABASE_URL: databaseUrl, RUNWIRE_DRAIN_SECONDS: DRAIN_SECONDS };
    const options = { dataDir, controllerPort, limits, env };
    const process = isOld
      ? await ServerProcess.start({ ...options, env: { ...env, ...unknownThen(oldEntry) }, entry: oldEntry })
      : await startServer(fault, options);
    const node = new UpgradeNode(process, isOld);
    this.#all.push(node);
    this.#open.push(node);
    return node;
  }

  /** In good order. Until it is gone it is asked as before, and says itself that it takes nothing more. */
  async stop(node: UpgradeNode): Promise<void> {
    node.isStopping = true;
    await node.process.kill('SIGTERM');
    this.#open = this.#open.filter((other) => other !== node);
  }

  get next(): UpgradeNode {
    this.#turn += 1;
    return this.#open[this.#turn % this.#open.length] as UpgradeNode;
  }

  get open(): readonly UpgradeNode[] {
    return this.#open;
  }

  /** Asks one after the other until one can answer. */
  async ask(signal: AbortSignal, method: string, path: string, body?: unknown): Promise<Answered> {
    for (;;) {
      signal.throwIfAborted();
      const answered = await this.next.ask(method, path, body);
      if (answered !== null && answered.status !== 503) return answered;
      await pause();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map(({ process }) => process[Symbol.asyncDispose]()));
  }
}
