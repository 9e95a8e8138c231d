import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiClient,
  askDatabase,
  CommitProxy,
  type Crash,
  type Followed,
  type Frame,
  follow,
  type ModelCall,
  PostgresServer,
  type ServerProcess,
  type StreamReader,
  ThreeStepLoad,
} from '@runwire/test-kit';
import { Claims } from './claims.ts';
import { DataFolder } from './data-folder.ts';
import { expectNumber, within } from './proof.ts';
import { SHORT_LEASE } from './start-nodes.ts';
import { startServer } from './start-server.ts';

export const INTEGRATION = 'mine';
export const PATH = `/v2/integrations/${INTEGRATION}`;
export const WAIT_MS = 60_000;
/** For this message the model sends a text and waits until the run is released. */
export const HOLD = 'Wait.';
const PAUSE_MS = 50;
/** More than the transactions that are in progress at a crash. */
const BURNED_IDS = 64;
const STEPS = 3;

/** Names the COMMIT that is interrupted, how PostgreSQL ends there, and whether it commits before. */
export interface CrashAt {
  /** Names the transaction if the proof falls short because its COMMIT never arrives. */
  readonly what: string;
  readonly matches: (said: string) => boolean;
  readonly way: Crash;
  readonly moment: 'before' | 'after';
}

interface Parts {
  readonly postgres: PostgresServer;
  readonly proxy: CommitProxy;
  readonly load: ThreeStepLoad;
  /** The address of the database itself, not through the proxy. */
  readonly direct: string;
  /** Another server on the same database, through the proxy. */
  readonly startServer: () => Promise<ServerProcess>;
}

/** A server on a PostgreSQL that crashes at a chosen COMMIT, and the checks of both. */
export class CommitCrashes implements AsyncDisposable {
  readonly main: ServerProcess;
  readonly claims = new Claims();
  readonly #parts: Parts;
  readonly #play: (call: ModelCall) => void;
  readonly #held: ModelCall[] = [];
  readonly #released = new Set<string>();
  readonly #over = new AbortController();
  readonly #stack: AsyncDisposableStack;
  crashes = 0;
  /** Crashes after which another transaction got the id of the interrupted one. */
  reused = 0;
  runs = 0;
  /** Each is a sum of what was found; anything but 0 ends the proof. */
  readonly found = { wrong_true: 0, wrong_false: 0, lost: 0, stuck: 0, holes: 0 };

  private constructor(parts: Parts, main: ServerProcess, stack: AsyncDisposableStack) {
    this.#parts = parts;
    this.main = main;
    this.#stack = stack;
    const { model } = parts.load;
    this.#play = model.onCall ?? (() => {});
    model.onCall = (call) => {
      const last = call.request.prompt.at(-1);
      if (last?.kind !== 'user' || last.text !== HOLD || this.#released.has(call.request.runId)) this.#play(call);
      else {
        this.#held.push(call);
        void call.text('Held. ');
      }
    };
  }

  static async start(fault: string | null): Promise<CommitCrashes> {
    await using building = new AsyncDisposableStack();
    // The WAL writer would flush what the interrupted transaction wrote, and its id would not be given out again.
    const postgres = building.use(await PostgresServer.start({ wal_writer_delay: '10000' }));
    const load = building.use(await ThreeStepLoad.start(PAUSE_MS));
    const folder = building.use(new DataFolder());
    const proxy = building.use(await CommitProxy.start(postgres.port));
    const direct = await postgres.database();
    const url = direct.replace(`:${postgres.port}/`, `:${proxy.port}/`);
    const env = { DATABASE_URL: url };
    const options = { dataDir: folder.path, controllerPort: load.model.port, limits: SHORT_LEASE, env };
    const main = building.use(await startServer(fault, options));
    const made = await main.api.post('/v2/integrations', { apiIntegrationId: INTEGRATION, agency: 'gate' });
    expectNumber('status of the integration', made.status, 201);
    const stack = building.move();
    const startAnother = async () => stack.use(await startServer(fault, options));
    return new CommitCrashes({ postgres, proxy, load, direct, startServer: startAnother }, main, stack);
  }

  query(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    return askDatabase(this.#parts.direct, text, values);
  }

  startAnother(): Promise<ServerProcess> {
    return this.#parts.startServer();
  }

  /** Resolves after the crash and the recovery. No server reaches the database before other transactions had their ids. */
  crashAt({ what, matches, way, moment }: CrashAt): Promise<void> {
    const crash = async () => {
      const [found] = await this.query('select max(backend_xid::text::bigint) as id from pg_stat_activity');
      await this.#parts.postgres.crash(way);
      const { first, last } = await this.#burnIds();
      const lost = Number(found?.id ?? 0);
      this.crashes += 1;
      if (first <= lost && lost <= last) this.reused += 1;
    };
    const crashed = this.#parts.proxy.interrupt({ matches, moment, crash });
    return awaitedLater(within(`crash at the commit of ${what} (${moment}, ${way})`, WAIT_MS, crashed));
  }

  async #burnIds(): Promise<{ readonly first: number; readonly last: number }> {
    const first = await this.query('select pg_current_xact_id()::text as id');
    // Each iteration is a transaction of its own.
    await this.query(
      `do $$ begin for i in 1..${BURNED_IDS} loop perform pg_current_xact_id(); commit; end loop; end $$`,
    );
    const last = await this.query('select pg_current_xact_id()::text as id');
    return { first: Number(first[0]?.id), last: Number(last[0]?.id) };
  }

  /** How often the model was called for this run. */
  callsOf(runId: string): number {
    return this.#parts.load.model.calls.filter(({ request }) => request.runId === runId).length;
  }

  /** The model continues with this run, in the held call and in later ones. */
  release(runId: string): void {
    this.#released.add(runId);
    for (const call of this.#held) if (call.request.runId === runId && !call.isClosed) this.#play(call);
  }

  /** Posts until a request is admitted, each time under another id. Every answer is compared with the stored runs later. */
  async admitted(id: string, message = 'Hello', api: ApiClient = this.main.api): Promise<StreamReader> {
    const body = { apiIntegrationId: INTEGRATION, chatId: `chat-${id}`, message };
    const post = async () => {
      for (let turn = 1; ; turn += 1) {
        const reader = await this.claims.post(api, body, `${id}.${turn}`);
        if (reader !== null) return reader;
        await sleep(200);
      }
    };
    return within(`admission in the chat of ${id}`, WAIT_MS, post());
  }

  /** Throws if an answer said `true` without a run, or `false` although there is one. */
  async checkClaims(): Promise<void> {
    const claims = this.claims.soFar();
    const runs = await this.query('select usage_request_id as id from runs');
    const { falseTrue, falseFalse } = claims.wrong('', new Set(runs.map(({ id }) => id)));
    this.found.wrong_true += falseTrue;
    this.found.wrong_false += falseFalse;
  }

  follow(reader: StreamReader): Promise<Followed> {
    const followed = follow(reader, () => [this.main.api], INTEGRATION, this.#over.signal);
    return awaitedLater(within('stuck: the end of a run', WAIT_MS, followed));
  }

  async checkActive(): Promise<void> {
    const active = await this.query(`select 1 from runs where status in ('admitted', 'running')`);
    this.found.stuck += expectNumber('stuck: runs that stay active', active.length, 0);
  }

  /** Compares what a reader saw of a run with what is stored of it. */
  async checkRun({ runId, frames }: Followed, status = 'completed'): Promise<void> {
    const [run] = await this.query('select status from runs where run_id = $1', [runId]);
    this.found.stuck += expectNumber(
      `stuck: runs that ended for their reader and are ${run?.status} in the store`,
      run?.status === status ? 0 : 1,
      0,
    );
    if (status === 'completed') {
      const steps = await this.query('select 1 from steps where run_id = $1', [runId]);
      this.found.lost += expectNumber('lost: steps missing from the journal', STEPS - steps.length, 0);
    }
    const replay = await this.main.api.events(runId, null, INTEGRATION);
    await within('end of a stored stream', WAIT_MS, replay.over);
    this.found.holes += expectNumber(
      'holes: events that differ from what the reader saw',
      differences(frames, replay.frames),
      0,
    );
    this.runs += 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#stack.disposeAsync();
  }
}

/** If the proof falls short before it awaits this, the rejection is not an unhandled one. */
function awaitedLater<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

/** How many events only one of the two has. Events that a `resumed` made void do not count. */
function differences(seen: readonly Frame[], stored: readonly Frame[]): number {
  const [one, other] = [seen, stored].map(
    (frames) => new Set(validFrames(frames).map((frame) => JSON.stringify(frame))),
  );
  return one?.symmetricDifference(other ?? new Set()).size ?? 0;
}

function validFrames(all: readonly Frame[]): readonly Frame[] {
  let frames = all;
  for (const resumed of all.filter(({ event }) => event === 'resumed')) {
    const { discard_after: last } = JSON.parse(resumed.data) as { discard_after: number };
    frames = frames.filter(({ id }) => id <= last || id >= resumed.id);
  }
  return frames;
}
