import { rmSync } from 'node:fs';
import { askDatabase, migratedDatabase, type StreamReader, silentNotifier, temporaryFolder } from '@runwire/test-kit';
import { ScriptedServer } from './scripted-server.ts';

type NodeOptions = NonNullable<Parameters<typeof ScriptedServer.start>[0]>;

interface ClusterOptions extends NodeOptions {
  /** If false, every hint of other nodes is dropped. */
  readonly hints?: boolean;
  /** A proxy between the servers and the database. */
  readonly through?: (url: string) => string;
  /** A private database of the test. */
  readonly databaseUrl?: string;
}

/** Several servers on one database and one data folder, each with its own model that the test controls. */
export class Cluster implements AsyncDisposable {
  readonly url: string;
  readonly nodes: ScriptedServer[] = [];
  readonly #dataDir = temporaryFolder();
  readonly #options: NodeOptions;
  readonly #owned: AsyncDisposableStack;

  private constructor(url: string, options: NodeOptions, owned: AsyncDisposableStack) {
    this.url = url;
    this.#options = options;
    this.#owned = owned;
  }

  static async start(count: number, options: ClusterOptions = {}): Promise<Cluster> {
    const { hints = true, through = (url: string) => url, databaseUrl, ...rest } = options;
    const owned = new AsyncDisposableStack();
    const url = databaseUrl ?? owned.use(await migratedDatabase()).url;
    const env = { ...rest.env, DATABASE_URL: through(url) };
    const cluster = new Cluster(url, { ...rest, env, ...(hints ? {} : { notifier: silentNotifier }) }, owned);
    for (let i = 0; i < count; i += 1) await cluster.join();
    return cluster;
  }

  async join(options: NodeOptions = {}): Promise<ScriptedServer> {
    const server = await ScriptedServer.start({ ...this.#options, ...options, dataDir: this.#dataDir });
    this.nodes.push(server);
    return server;
  }

  node(place: number): ScriptedServer {
    const node = this.nodes[place];
    if (node === undefined) throw new Error(`There is no node ${place}.`);
    return node;
  }

  /** Queries the database directly. */
  query(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]> {
    return askDatabase(this.url, text, values);
  }

  async leave(node: ScriptedServer): Promise<void> {
    this.nodes.splice(this.nodes.indexOf(node), 1);
    await node[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node[Symbol.asyncDispose]()));
    await this.#owned.disposeAsync();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

/** Sends a token, and resolves when every reader has it. */
export async function inStep(
  call: { text(text: string): Promise<void> },
  token: string,
  readers: readonly StreamReader[],
): Promise<void> {
  await call.text(token);
  await Promise.all(readers.map((reader) => reader.untilText(token)));
}
