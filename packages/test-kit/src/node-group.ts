import { rmSync } from 'node:fs';
import { type ApiClient, temporaryFolder } from '@runwire/server/testing';
import { askDatabase } from './postgres-server.ts';
import { ServerProcess, type SpawnOptions } from './test-server.ts';
import { migratedDatabase, type TestDatabase } from './test-store.ts';

export type NodeGroupOptions = Omit<SpawnOptions, 'dataDir'>;

/** Several servers, each in a process of its own, on one PostgreSQL database and one data folder. */
export class NodeGroup implements AsyncDisposable {
  readonly nodes: ServerProcess[] = [];
  readonly dataDir = temporaryFolder();
  readonly #database: TestDatabase;
  readonly #options: NodeGroupOptions;

  private constructor(database: TestDatabase, options: NodeGroupOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** `each` gives a single node options that the others do not have. */
  static async start(
    count: number,
    options: NodeGroupOptions,
    each: (place: number) => Partial<NodeGroupOptions> = () => ({}),
  ): Promise<NodeGroup> {
    const group = new NodeGroup(await migratedDatabase(), options);
    // Concurrently: several nodes may start for the first time together.
    const starts = await Promise.allSettled(Array.from({ length: count }, (_, place) => group.#start(each(place))));
    for (const start of starts) if (start.status === 'fulfilled') group.nodes.push(start.value);
    const failed = starts.find((start) => start.status === 'rejected');
    if (failed === undefined) return group;
    await group[Symbol.asyncDispose]();
    throw failed.reason;
  }

  get limits(): NodeGroupOptions['limits'] {
    return this.#options.limits;
  }

  get databaseUrl(): string {
    return this.#database.url;
  }

  #start(own: Partial<NodeGroupOptions>): Promise<ServerProcess> {
    const env = { DATABASE_URL: this.#database.url, ...this.#options.env, ...own.env };
    return ServerProcess.start({ ...this.#options, ...own, env, dataDir: this.dataDir });
  }

  async add(own: Partial<NodeGroupOptions> = {}): Promise<ServerProcess> {
    const node = await this.#start(own);
    this.nodes.push(node);
    return node;
  }

  /** Returns the client of each node by turns, for any number. */
  api(turn: number): ApiClient {
    return this.node(turn % this.nodes.length).api;
  }

  node(place: number): ServerProcess {
    const node = this.nodes[place];
    if (node === undefined) throw new Error(`There is no node ${place}.`);
    return node;
  }

  /** Queries the database directly. */
  query(text: string): Promise<Record<string, unknown>[]> {
    return askDatabase(this.#database.url, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    await this.#database[Symbol.asyncDispose]();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
