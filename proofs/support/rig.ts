import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type ApiClient,
  askDatabase,
  fenceServers,
  forgetStore,
  freshDatabase,
  ModelController,
  ServerProcess,
  ToolController,
  temporaryFolder,
} from '@runwire/test-kit';
import { expectNumber } from './proof.ts';

/** `npm run check:full` sets `TEST_BUILD`: a start from the build costs 0.3 s of CPU instead of 1.2 s. */
const entry = fileURLToPath(
  new URL(
    process.env.TEST_BUILD === undefined ? './server-process.ts' : '../../packages/test-kit/dist/proof-server.js',
    import.meta.url,
  ),
);

/** The options of one server: its limits, its environment, and the point at which it is killed or stopped. */
export type ServerOptions = Partial<Omit<Parameters<typeof ServerProcess.start>[0], 'dataDir' | 'fault'>>;

/** For short forms: the other nodes declare a node dead after 3 s instead of 8. */
export const SHORT_LEASE = { leaseMs: 3000, beatMs: 750 };

export interface RigOptions extends ServerOptions {
  /** Planted in every server that does not name another fault. */
  readonly fault?: string | null;
  /** Starts this many servers on one PostgreSQL; null starts one server on the embedded store. */
  readonly nodes?: number | null;
  /** False if the servers use the model that their settings name instead of the scripted one. */
  readonly scripted?: boolean;
  /** Uses this database and leaves it, instead of a new one. */
  readonly databaseUrl?: string;
  /** Options that one of the first servers gets in addition. */
  readonly each?: (place: number) => ServerOptions;
}

/**
 * The stage of a proof: servers in processes of their own on one store and one data folder, the scripted model and the gate
 * of the tools, which outlive the servers. Servers that are killed can be followed by others on the same data.
 */
export class Rig implements AsyncDisposable {
  readonly servers: ServerProcess[] = [];
  readonly dataDir = temporaryFolder();
  readonly model: ModelController;
  readonly gate: ToolController;
  readonly #options: RigOptions;
  readonly #database: { readonly url: string } | null;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    parts: Pick<Rig, 'model' | 'gate'>,
    options: RigOptions,
    database: { readonly url: string } | null,
    stack: AsyncDisposableStack,
  ) {
    this.model = parts.model;
    this.gate = parts.gate;
    this.#options = options;
    this.#database = database;
    this.#stack = stack;
  }

  /** A rig without a server: `add` starts the first one. */
  static async open(options: RigOptions = {}): Promise<Rig> {
    await using building = new AsyncDisposableStack();
    const model = building.use(await ModelController.start());
    const gate = building.use(await ToolController.start());
    const { nodes, databaseUrl } = options;
    const given = databaseUrl === undefined ? null : { url: databaseUrl };
    const database = given ?? (typeof nodes === 'number' ? building.use(await freshDatabase()) : null);
    const rig = new Rig({ model, gate }, options, database, building.move());
    rig.#stack.defer(async () => {
      await forgetStore(rig.dataDir);
      rmSync(rig.dataDir, { recursive: true, force: true });
    });
    return rig;
  }

  static async start(options: RigOptions = {}): Promise<Rig> {
    const rig = await Rig.open(options);
    const { nodes, each = () => ({}) } = options;
    try {
      // One after the other: test/two-starts.full.test.ts is about servers that start concurrently on new data.
      for (let place = 0; place < (nodes ?? 1); place += 1) await rig.add(each(place));
      return rig;
    } catch (error) {
      await rig[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #start({ env, ...own }: ServerOptions & Pick<RigOptions, 'fault'>): Promise<ServerProcess> {
    const { nodes, each, scripted = true, databaseUrl, fault: planted, ...options } = this.#options;
    const { fault = planted, ...rest } = { ...options, ...own };
    // On the embedded store the server before is gone. On PostgreSQL (TEST_STORE) its lease would last 8 s more.
    if (this.#database === null) await fenceServers(this.dataDir);
    return await ServerProcess.start({
      ...(scripted ? { controllerPort: this.model.port } : {}),
      entry,
      ...rest,
      dataDir: this.dataDir,
      env: { ...(this.#database === null ? {} : { DATABASE_URL: this.#database.url }), ...options.env, ...env },
      ...(fault === null || fault === undefined ? {} : { fault }),
    });
  }

  /** Another server on the same data. */
  async add(own: ServerOptions & Pick<RigOptions, 'fault'> = {}): Promise<ServerProcess> {
    const server = await this.#start(own);
    this.servers.push(server);
    return server;
  }

  server(place = 0): ServerProcess {
    const server = this.servers[place];
    if (server === undefined) throw new Error(`There is no server ${place}.`);
    return server;
  }

  /** The servers by turns, for any number. */
  api(turn = 0): ApiClient {
    return this.server(turn % this.servers.length).api;
  }

  /** Makes an integration, and a member of it. */
  async prepare(
    integration: { readonly apiIntegrationId: string; readonly [field: string]: unknown },
    consumerId: string | null = null,
  ): Promise<void> {
    const made = await this.api().post('/v2/integrations', integration);
    expectNumber('status of the integration', made.status, 201);
    if (consumerId === null) return;
    const path = `/v2/integrations/${integration.apiIntegrationId}/members/${consumerId}`;
    expectNumber('status of the member', (await this.api().put(path, {})).status, 201);
  }

  get databaseUrl(): string {
    if (this.#database === null) throw new Error('This rig is on the embedded store.');
    return this.#database.url;
  }

  /** Asks the database itself. */
  query(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    return askDatabase(this.databaseUrl, text, values);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    await this.#stack.disposeAsync();
  }
}
