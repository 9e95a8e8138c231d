import { rmSync } from 'node:fs';
import { ModelController, type StreamReader, temporaryFolder } from '@runwire/server/testing';
import { type FolderAgency, writeAgencyFolders } from './agency-folders.ts';
import { askDatabase } from './postgres-server.ts';
import { type FollowedRun, follow } from './roaming-client.ts';
import { plantedFault, scale } from './scale.ts';
import { expectEqual, WAIT_MS, within } from './shortfall.ts';
import { type RigServer, ServerProcess, type SpawnOptions, startHere } from './test-server.ts';
import { fenceServers, forgetStore, freshDatabase } from './test-store.ts';
import { ToolController } from './tool-controller.ts';

/** One server's options: its limits, its environment, its fault, and the point at which it is killed or stopped. */
export interface ServerOptions extends Partial<Omit<Parameters<typeof ServerProcess.start>[0], 'dataDir' | 'fault'>> {
  readonly fault?: string | null;
}

/** The other nodes declare a node dead after 3 s instead of 8. */
export const SHORT_LEASE = { leaseMs: 3000, beatMs: 750 };

/** The options of every server that does not have its own. */
export interface RigOptions extends ServerOptions {
  /** Starts this many servers on one PostgreSQL; null starts one server on the embedded store. */
  readonly nodes?: number | null;
  /** False if the servers use the model that their settings name instead of the scripted one. */
  readonly scripted?: boolean;
  /** Gives the servers these agencies as folders, and no others, so that their tools run in agency processes. */
  readonly agencyFolders?: readonly FolderAgency[];
  /** Uses this database and leaves it, instead of a new one. */
  readonly databaseUrl?: string;
}

export interface FollowOptions<S> {
  /** The servers that are asked by turns; all by default. */
  readonly servers?: () => readonly S[];
  readonly integration?: string;
  readonly limitMs?: number;
}

async function openWith<S extends RigServer>(startServer: (options: SpawnOptions) => Promise<S>, options: RigOptions) {
  const { nodes, scripted = true, databaseUrl, agencyFolders, ...common } = options;
  await using building = new AsyncDisposableStack();
  const model = building.use(await ModelController.start());
  const gate = building.use(await ToolController.start());
  const isOwn = databaseUrl === undefined && typeof nodes === 'number';
  const url = isOwn ? building.use(await freshDatabase()).url : (databaseUrl ?? null);
  const dataDir = temporaryFolder();
  const agencies = agencyFolders === undefined ? null : temporaryFolder();
  if (agencies !== null) writeAgencyFolders(agencies, agencyFolders ?? []);
  const over = new AbortController();
  building.defer(async () => {
    over.abort();
    await Promise.all(rig.servers.map((server) => server.kill()));
    await forgetStore(dataDir);
    rmSync(dataDir, { recursive: true, force: true });
    if (agencies !== null) rmSync(agencies, { recursive: true, force: true });
  });
  const rig = {
    model,
    gate,
    dataDir,
    servers: [] as S[],
    /** The integration that `prepare` made last. */
    integration: 'demo',

    get path() {
      return `/v2/integrations/${rig.integration}`;
    },

    /** True if the servers use the embedded store. */
    get isEmbedded() {
      return url === null;
    },

    get databaseUrl() {
      if (url === null) throw new Error('This rig is on the embedded store.');
      return url;
    },

    /** Another server on the same data. */
    async add({ env, ...own }: ServerOptions = {}): Promise<S> {
      const { fault = plantedFault(), ...rest } = { ...common, ...own };
      // On the embedded store the server before has ended. On PostgreSQL (TEST_STORE) its lease would last 8 s more.
      if (url === null) await fenceServers(dataDir);
      const server = await startServer({
        ...(scripted ? { controllerPort: model.port } : {}),
        ...(agencies === null ? {} : { withTestAgencies: false }),
        ...rest,
        dataDir,
        env: {
          ...(url === null ? {} : { DATABASE_URL: url }),
          ...(agencies === null ? {} : { RUNWIRE_AGENCIES_DIR: agencies }),
          ...common.env,
          ...env,
        },
        ...(typeof fault === 'string' ? { fault } : {}),
      });
      rig.servers.push(server);
      return server;
    },

    server(place = 0): S {
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
      expectEqual('status of the integration', status, 201);
      if (consumerId === null) return;
      const member = await rig.api().put(`${rig.path}/members/${consumerId}`, {});
      expectEqual('status of the member', member.status, 201);
    },

    /** Reads a run to its end on the servers by turns. Nothing is unhandled if it fails and is not awaited. */
    follow(reader: StreamReader, options: FollowOptions<S> = {}): Promise<FollowedRun> {
      const { servers = () => rig.servers, integration = rig.integration, limitMs = 2 * WAIT_MS } = options;
      const nodes = () => servers().map(({ api }) => api);
      const read = within('stuck: the end of a run', limitMs, follow(reader, nodes, integration, over.signal));
      read.catch(() => {});
      return read;
    },

    /** The sum of a counter over the servers that are alive. */
    async counter(name: string): Promise<number> {
      const answers = await Promise.all(rig.servers.map(({ api }) => api.get('/metrics').catch(() => null)));
      const line = new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm');
      const found = answers.flatMap((answer) => [...String(answer?.body).matchAll(line)]);
      return found.reduce((sum, [, value]) => sum + Number(value), 0);
    },

    /** Asks the database itself. */
    query: (text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> =>
      askDatabase(rig.databaseUrl, text, values),

    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  const stack = building.move();
  return rig;
}

async function startWith<S extends RigServer>(
  startServer: (options: SpawnOptions) => Promise<S>,
  options: RigOptions,
): Promise<Rig<S>> {
  const rig = await openWith(startServer, options);
  try {
    // One after the other: test/two-starts.full.test.ts is about servers that start concurrently on new data.
    while (rig.servers.length < (options.nodes ?? 1)) await rig.add();
    return rig;
  } catch (error) {
    await rig[Symbol.asyncDispose]();
    throw error;
  }
}

const startProcess = (options: SpawnOptions) => ServerProcess.start(options);

/**
 * Servers in processes of their own on one store and one data folder, the scripted model and the tools' gate, which
 * outlive the servers. Servers that are killed can be followed by others on the same data.
 */
export type Rig<S extends RigServer = ServerProcess> = Awaited<ReturnType<typeof openWith<S>>>;
/** A rig whose servers no test kills. */
export type AnyRig = Rig<RigServer>;
export const Rig = {
  /** Without a server: `add` starts the first one. */
  open: (options: RigOptions = {}): Promise<Rig> => openWith(startProcess, options),
  start: (options: RigOptions = {}): Promise<Rig> => startWith(startProcess, options),
  /** In the small form the servers are in this process, at full scale in their own. */
  scaled: (options: RigOptions = {}): Promise<AnyRig> => startWith<RigServer>(scale(startHere, startProcess), options),
};
