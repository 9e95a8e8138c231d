import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  askDatabase,
  type FollowedRun,
  fenceServers,
  follow,
  forgetStore,
  freshDatabase,
  ModelController,
  ServerProcess,
  type StreamReader,
  ToolController,
  temporaryFolder,
} from '@runwire/test-kit';
import { expectNumber, WAIT_MS, within } from './proof.ts';

/** `npm run check:full` sets `TEST_BUILD`: a start from the build costs 0.3 s of CPU instead of 1.2 s. */
const entry = fileURLToPath(
  new URL(
    process.env.TEST_BUILD === undefined ? './server-process.ts' : '../../packages/test-kit/dist/proof-server.js',
    import.meta.url,
  ),
);

/** The options of one server: its limits, its environment, its fault, and the point at which it is killed or stopped. */
export interface ServerOptions extends Partial<Omit<Parameters<typeof ServerProcess.start>[0], 'dataDir' | 'fault'>> {
  readonly fault?: string | null;
}

/** For short forms: the other nodes declare a node dead after 3 s instead of 8. */
export const SHORT_LEASE = { leaseMs: 3000, beatMs: 750 };

/** The options of every server that does not have its own. */
export interface RigOptions extends ServerOptions {
  /** Starts this many servers on one PostgreSQL; null starts one server on the embedded store. */
  readonly nodes?: number | null;
  /** False if the servers use the model that their settings name instead of the scripted one. */
  readonly scripted?: boolean;
  /** Uses this database and leaves it, instead of a new one. */
  readonly databaseUrl?: string;
  /** Options that one of the first servers gets in addition. */
  readonly each?: (place: number) => ServerOptions;
}

interface FollowOptions {
  /** The servers that are asked by turns; all by default. */
  readonly servers?: () => readonly ServerProcess[];
  readonly integration?: string;
  readonly limitMs?: number;
}

/** A rig without a server: `add` starts the first one. */
async function open(options: RigOptions = {}) {
  const { nodes, each, scripted = true, databaseUrl, ...common } = options;
  await using building = new AsyncDisposableStack();
  const model = building.use(await ModelController.start());
  const gate = building.use(await ToolController.start());
  const isOwn = databaseUrl === undefined && typeof nodes === 'number';
  const url = isOwn ? building.use(await freshDatabase()).url : (databaseUrl ?? null);
  const dataDir = temporaryFolder();
  const over = new AbortController();
  building.defer(async () => {
    over.abort();
    await Promise.all(rig.servers.map((server) => server.kill()));
    await forgetStore(dataDir);
    rmSync(dataDir, { recursive: true, force: true });
  });
  const rig = {
    model,
    gate,
    dataDir,
    servers: [] as ServerProcess[],
    /** The integration that `prepare` made last. */
    integration: 'demo',

    get path() {
      return `/v2/integrations/${rig.integration}`;
    },

    get databaseUrl() {
      if (url === null) throw new Error('This rig is on the embedded store.');
      return url;
    },

    /** Another server on the same data. */
    async add({ env, ...own }: ServerOptions = {}): Promise<ServerProcess> {
      const { fault, ...rest } = { ...common, ...own };
      // On the embedded store the server before has ended. On PostgreSQL (TEST_STORE) its lease would last 8 s more.
      if (url === null) await fenceServers(dataDir);
      const server = await ServerProcess.start({
        ...(scripted ? { controllerPort: model.port } : {}),
        entry,
        ...rest,
        dataDir,
        env: { ...(url === null ? {} : { DATABASE_URL: url }), ...common.env, ...env },
        ...(typeof fault === 'string' ? { fault } : {}),
      });
      rig.servers.push(server);
      return server;
    },

    server(place = 0): ServerProcess {
      const server = rig.servers[place];
      if (server === undefined) throw new Error(`There is no server ${place}.`);
      return server;
    },

    /** The servers by turns, for any number. */
    api: (turn = 0) => rig.server(turn % rig.servers.length).api,

    /** Makes an integration, and a member of it. */
    async prepare(
      fields: { readonly apiIntegrationId: string; readonly [field: string]: unknown },
      consumerId: string | null = null,
    ): Promise<void> {
      rig.integration = fields.apiIntegrationId;
      const { status } = await rig.api().post('/v2/integrations', fields);
      expectNumber('status of the integration', status, 201);
      if (consumerId === null) return;
      const member = await rig.api().put(`${rig.path}/members/${consumerId}`, {});
      expectNumber('status of the member', member.status, 201);
    },

    /** Reads a run to its end on the servers by turns. If the proof fails before it awaits this, nothing is unhandled. */
    follow(reader: StreamReader, options: FollowOptions = {}): Promise<FollowedRun> {
      const { servers = () => rig.servers, integration = rig.integration, limitMs = 2 * WAIT_MS } = options;
      const nodes = () => servers().map(({ api }) => api);
      const read = within('stuck: the end of a run', limitMs, follow(reader, nodes, integration, over.signal));
      read.catch(() => {});
      return read;
    },

    /** Asks the database itself. */
    query: (text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> =>
      askDatabase(rig.databaseUrl, text, values),

    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  const stack = building.move();
  return rig;
}

async function start(options: RigOptions = {}): Promise<Rig> {
  const rig = await open(options);
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

/**
 * The stage of a proof: servers in processes of their own on one store and one data folder, the scripted model and the gate
 * of the tools, which outlive the servers. Servers that are killed can be followed by others on the same data.
 */
export type Rig = Awaited<ReturnType<typeof open>>;
export const Rig = { open, start };
