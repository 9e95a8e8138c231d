import { rmSync } from 'node:fs';
import { queryDatabase } from './postgres-server.ts';
import { ServerProcess, type SpawnOptions, temporaryFolder } from './test-server.ts';
import { freshDatabase, type TestDatabase } from './test-store.ts';

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

  /** `each` gives one node what the others have not. */
  static async start(
    count: number,
    options: NodeGroupOptions,
    each: (place: number) => Partial<NodeGroupOptions> = () => ({}),
  ): Promise<NodeGroup> {
    const group = new NodeGroup(await freshDatabase(), options);
    try {
      // The first makes the installation that the others find.
      for (let place = 0; place < count; place += 1) await group.add(each(place));
    } catch (error) {
      await group[Symbol.asyncDispose]();
      throw error;
    }
    return group;
  }

  get databaseUrl(): string {
    return this.#database.url;
  }

  async add(own: Partial<NodeGroupOptions> = {}): Promise<ServerProcess> {
    const env = { DATABASE_URL: this.#database.url, ...this.#options.env, ...own.env };
    const node = await ServerProcess.start({ ...this.#options, ...own, env, dataDir: this.dataDir });
    this.nodes.push(node);
    return node;
  }

  node(place: number): ServerProcess {
    const node = this.nodes[place];
    if (node === undefined) throw new Error(`There is no node ${place}.`);
    return node;
  }

  /** What stands in the database itself. */
  query(text: string): Promise<Record<string, unknown>[]> {
    return queryDatabase(this.#database.url, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    await this.#database[Symbol.asyncDispose]();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
