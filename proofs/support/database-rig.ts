import {
  type ApiClient,
  askDatabase,
  CommitProxy,
  type FollowedRun,
  follow,
  PostgresServer,
  type StreamReader,
  ThreeStepLoad,
} from '@runwire/test-kit';
import { Claims } from './claims.ts';
import { expectNumber, WAIT_MS, within } from './proof.ts';
import { Rig, type RigOptions } from './rig.ts';
import { checkStory } from './story.ts';

const INTEGRATION = 'mine';
export const PATH = `/v2/integrations/${INTEGRATION}`;
export const WHO = { apiIntegrationId: INTEGRATION, consumerId: 'ann' };

interface Parts {
  readonly postgres: PostgresServer;
  readonly proxy: CommitProxy;
  readonly load: ThreeStepLoad;
  readonly rig: Rig;
  /** The address of the database itself, not through the proxy. */
  readonly direct: string;
}

/**
 * Servers on a private PostgreSQL, behind a proxy that can fail in the middle of a commit, and a metered integration
 * whose runs call a tool. Records the answer to every caller.
 */
export class DatabaseRig implements AsyncDisposable {
  readonly postgres: PostgresServer;
  readonly proxy: CommitProxy;
  readonly load: ThreeStepLoad;
  readonly rig: Rig;
  claims = new Claims();
  readonly #direct: string;
  readonly #over = new AbortController();
  readonly #stack: AsyncDisposableStack;

  private constructor({ postgres, proxy, load, rig, direct }: Parts, stack: AsyncDisposableStack) {
    this.postgres = postgres;
    this.proxy = proxy;
    this.load = load;
    this.rig = rig;
    this.#direct = direct;
    this.#stack = stack;
  }

  /** `pauseMs`: how long each call of the model and of the tool takes. */
  static async start(
    pauseMs: number,
    options: RigOptions,
    settings: Record<string, string> = {},
  ): Promise<DatabaseRig> {
    await using building = new AsyncDisposableStack();
    const postgres = building.use(await PostgresServer.start(settings));
    const load = building.use(await ThreeStepLoad.start(pauseMs));
    const proxy = building.use(await CommitProxy.start(postgres.port));
    const direct = await postgres.database();
    const databaseUrl = direct.replace(`:${postgres.port}/`, `:${proxy.port}/`);
    const rig = building.use(await Rig.start({ ...options, databaseUrl, controllerPort: load.model.port }));
    const allowances = { unit: 'tokens', limit: 100_000_000, period: 'lifetime' };
    await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'gate', allowances }, WHO.consumerId);
    return new DatabaseRig({ postgres, proxy, load, rig, direct }, building.move());
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  query(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    return askDatabase(this.#direct, text, values);
  }

  /** Reads a run to its end on the servers by turns. If the proof fails before it awaits this, nothing is unhandled. */
  follow(reader: StreamReader): Promise<FollowedRun> {
    const nodes = () => this.rig.servers.map(({ api }) => api);
    const read = within('stuck: the end of a run', 2 * WAIT_MS, follow(reader, nodes, INTEGRATION, this.#over.signal));
    read.catch(() => {});
    return read;
  }

  /** Throws if an answer said `true` without a run, or `false` although there is one. */
  async wrongClaims(prefix: string) {
    const claims = this.claims.soFar();
    const runs = await this.query('select usage_request_id as id from runs');
    const { falseTrue, falseFalse } = claims.wrong(prefix, new Set(runs.map(({ id }) => id)));
    return { wrong_true: falseTrue, wrong_false: falseFalse };
  }

  /** Run, usage, messages and stream agree with each other, and with what the reader got. */
  async checkRun({ runId, frames }: FollowedRun, status = 'completed', api: ApiClient = this.rig.api()): Promise<void> {
    const { run } = await checkStory(api, { integration: INTEGRATION, runId, seen: frames, model: this.load.model });
    expectNumber(`stuck: runs that are ${run.status}, not ${status}`, Number(run.status !== status), 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#stack.disposeAsync();
  }
}
