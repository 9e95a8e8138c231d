import { ModelController, PostgresServer, postgresFolder, ServerProcess, ToolController } from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { findEarlierCommit, OldVersion } from './support/old-version.ts';
import { expectAtLeast, expectEqual, expectNumber, LeftOut, type Proof, within } from './support/proof.ts';
import { SHORT_LEASE } from './support/start-nodes.ts';
import { countUsage, UpgradeDatabase } from './support/upgrade-checks.ts';
import { UpgradeLoad } from './support/upgrade-load.ts';
import { UpgradeModel } from './support/upgrade-model.ts';
import { type UpgradeNode, UpgradeNodes, unknownThen } from './support/upgrade-nodes.ts';

/*
 * An installation is brought from an earlier version to this one as docs/upgrade.md says, under load: servers of both
 * versions work on one database for a while, and the older ones are stopped one after the other. Model and tools are
 * served, and their calls counted, in this process.
 */

const WAIT_MS = 60_000;
/** Held on each server that is stopped: they are not done by the end of its drain. */
const HELD = 2;
/** Longer than the silence, 3 s or 8 s, after which a server that beats is taken for dead. */
const BESIDE_MS = { short: 5000, full: 30_000 };
const WORK = { short: 6, full: 40 };
const REST_MS = { short: 800, full: 200 };
/** For a run that is held no end of its step is worth waiting for; in full it is waited for as everywhere, 30 s. */
const SHORT_HAND_OVER_MS = 1000;

/** Whether the old servers run beside all the new ones for a while, or each goes as soon as a new one is there. */
type Order = 'together' | 'in turn';

class Upgrade {
  readonly load: UpgradeLoad;
  readonly #nodes: UpgradeNodes;
  readonly #database: UpgradeDatabase;
  readonly #ids = new Map<UpgradeNode, string>();
  readonly #gone: UpgradeNode[] = [];
  readonly #held = new Map<UpgradeNode, () => Promise<void>>();
  readonly #work: number;

  constructor(load: UpgradeLoad, nodes: UpgradeNodes, database: UpgradeDatabase, work: number) {
    this.load = load;
    this.#nodes = nodes;
    this.#database = database;
    this.#work = work;
  }

  async start(version: 'old' | 'new'): Promise<UpgradeNode> {
    const before = new Set(await this.#database.nodeIds().catch(() => []));
    const starting = version === 'old' ? this.#nodes.startOld() : this.#nodes.startNew();
    const node = await within(`start of a server of the ${version} version`, WAIT_MS, starting);
    const [id] = (await this.#database.nodeIds()).filter((each) => !before.has(each));
    this.#ids.set(node, id ?? '');
    return node;
  }

  async work(): Promise<void> {
    await this.load.goOn(this.#work);
  }

  async hold(node: UpgradeNode): Promise<void> {
    this.#held.set(node, await this.load.hold(node, HELD));
  }

  /** Its drain ends with runs under way, which go on elsewhere. */
  async stop(node: UpgradeNode): Promise<void> {
    await this.checkNodes();
    await within('stop in good order', WAIT_MS, this.#nodes.stop(node));
    this.#gone.push(node);
    await this.#held.get(node)?.();
    await this.work();
  }

  /** A new server beside old ones goes and comes back: what it lets go of is not theirs. */
  async restart(node: UpgradeNode): Promise<void> {
    await this.hold(node);
    await this.stop(node);
    await this.start('new');
  }

  async checkNodes(): Promise<void> {
    const ids = (nodes: readonly UpgradeNode[]) => nodes.map((node) => this.#ids.get(node) ?? '');
    await this.#database.checkNodes(ids(this.#nodes.open), ids(this.#gone));
  }
}

async function upgrade(order: Order, old: OldVersion, isOtherSchema: boolean, fault: string | null, short: boolean) {
  const form = short ? 'short' : 'full';
  using folder = new DataFolder();
  await using postgres = await PostgresServer.start();
  await using gate = await ToolController.start();
  await using controller = await ModelController.start();
  const database = new UpgradeDatabase(postgres, await postgres.database());
  const options = { databaseUrl: database.url, dataDir: folder.path, controllerPort: controller.port };
  const limits = short ? { ...SHORT_LEASE, handOverMs: SHORT_HAND_OVER_MS } : {};
  await using nodes = new UpgradeNodes({ ...options, limits, oldEntry: old.entry, fault });
  const load = new UpgradeLoad(nodes, REST_MS[form]);
  const model = new UpgradeModel(controller, gate, load.mayTry, load.fail);
  const steps = new Upgrade(load, nodes, database, WORK[form]);

  const oldNodes = [await steps.start('old'), await steps.start('old')] as const;
  await load.prepare();
  try {
    load.start();
    for (const node of oldNodes) await steps.hold(node);
    await steps.work();
    await steps.start('new');
    await steps.work();
    if (order === 'in turn') await steps.stop(oldNodes[0]);
    const second = await steps.start('new');
    await steps.work();
    if (order === 'together') {
      await load.goOnFor(BESIDE_MS[form]);
      if (!short) await steps.restart(second);
      await steps.stop(oldNodes[0]);
    }
    await steps.stop(oldNodes[1]);
    await load.end();
    await steps.checkNodes();
  } finally {
    await load.settle();
  }

  const { runs, handedOver } = await database.checkRuns(load);
  await database.checkMoney();
  const records = (await countUsage(nodes, 'load')) + (await countUsage(nodes, 'race'));
  expectNumber('usage records', records, runs);
  expectAtLeast('runs that went on elsewhere', handedOver, HELD * oldNodes.length);
  expectAtLeast('cancelled runs', load.cancelled, 1);
  const { modelCalls, toolCalls } = model.checkCalls();
  if (isOtherSchema) await checkRefusal(old, options);
  return {
    ...load.tally,
    runs,
    records,
    refused: load.refused.length,
    cancelled: load.cancelled,
    handedOver,
    modelCalls,
    toolCalls,
  };
}

/** The database is not the older version's any more. */
async function checkRefusal(
  old: OldVersion,
  options: { databaseUrl: string; dataDir: string; controllerPort: number },
) {
  const { databaseUrl, ...rest } = options;
  const env = { DATABASE_URL: databaseUrl, ...unknownThen(old.entry) };
  const start = ServerProcess.start({ ...rest, env, entry: old.entry });
  const said = await start.then(
    async (server) => {
      await server.kill();
      return 'it came up';
    },
    (error: Error) => error.message,
  );
  const isRefused = said.includes('The database was made by a newer version of Runwire');
  expectEqual('start of the earlier version afterwards', isRefused ? 'refused' : said, 'refused');
}

export const proof: Proof = {
  name: 'upgrade',
  minutes: 3,
  faults: {
    'fence-old-nodes':
      /^(Runs taken from a living server of the earlier version: expected 0, found run_|living servers that were taken for dead: expected 0, found [1-9])/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const earlier = findEarlierCommit();
    if (typeof earlier === 'string') throw new LeftOut(`upgrade: ${earlier}.`);
    if (postgresFolder() === null)
      throw new LeftOut('upgrade: PostgreSQL is not installed (apt-get install postgresql).');
    process.stdout.write(`from ${earlier.commit}${earlier.isOtherSchema ? '' : ', which has the same tables'}\n`);
    using old = new OldVersion(earlier.commit);
    const sum = new Map<string, number>();
    const orders: readonly Order[] = short ? ['together'] : ['together', 'in turn'];
    for (const order of orders) {
      const counts = await upgrade(order, old, earlier.isOtherSchema, fault, short);
      for (const [name, count] of Object.entries(counts)) sum.set(name, (sum.get(name) ?? 0) + count);
    }
    const figure = (name: string) => sum.get(name) ?? 0;
    return {
      upgrades: orders.length,
      posts: figure('posts'),
      runs: figure('runs'),
      usage_records: figure('records'),
      replays: figure('replays'),
      refused: figure('refused'),
      cancelled: figure('cancelled'),
      unavailable: figure('unavailable'),
      reattached: figure('reattached'),
      handed_over: figure('handedOver'),
      model_calls: figure('modelCalls'),
      tool_calls: figure('toolCalls'),
    };
  },
};
