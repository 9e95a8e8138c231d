import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Answer,
  type ApiClient,
  type Crash,
  type FollowedRun,
  type ModelCall,
  SHORT_LEASE,
  type StreamReader,
} from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { type DatabaseRig, startDatabaseRig, WHO } from './support/database-rig.ts';
import { checkStory } from './support/story.ts';

/*
 * A proxy sees the COMMIT of a server's transaction. Instead of forwarding it, or after the database has committed, it
 * crashes PostgreSQL and lets other transactions use the ids that the crash undid. Then the server has to find out what
 * became of its transaction, and all its answers must be true.
 */

const WAYS: readonly Crash[] = ['postmaster', 'immediate', 'backend'];
const LOAD_CLIENTS = 4;
/** More than the transactions that are in progress at a crash. */
const BURNED_IDS = 64;
const STEPS = 3;
/** For this message the model sends a text and waits until the run is released. */
const HOLD = 'Wait.';

/** Arms the crash; resolves when the database is back. */
type ArmCrash = () => Promise<void>;

interface Case {
  readonly name: string;
  /** The statements that its transaction has, and the statements that it must not have. */
  readonly has: readonly string[];
  readonly hasNot?: readonly string[];
  /** Does what causes the COMMIT, and checks the result. */
  readonly play: (stage: Stage, id: string, crash: ArmCrash) => Promise<void>;
}

const CASES: readonly Case[] = [
  { name: 'admission', has: ['insert runs'], play: playRun },
  {
    name: 'flush',
    has: ['insert event_chunks'],
    hasNot: ['insert runs', 'insert steps', 'finish run', 'take run'],
    // The model waits until a flush was interrupted: otherwise a step could store the same events before.
    play: (stage, id, crash) => playRun(stage, id, crash, HOLD),
  },
  { name: 'step', has: ['insert steps'], hasNot: ['finish run'], play: playRun },
  { name: 'end', has: ['finish run'], hasNot: ['take run'], play: playRun },
  { name: 'cancel', has: ['request cancel'], play: playCancel },
  { name: 'takeover', has: ['take run'], play: playTakeover },
  { name: 'account', has: ['insert members', 'insert integrations', 'insert api_keys'], play: playAccount },
];

/** The servers, the model that holds some runs, and the counts. */
class Stage {
  readonly database: DatabaseRig;
  readonly #play: (call: ModelCall) => void;
  readonly #held: ModelCall[] = [];
  readonly #released = new Set<string>();
  crashes = 0;
  /** Crashes after which another transaction got the interrupted one's id. */
  reused = 0;
  runs = 0;

  constructor(database: DatabaseRig) {
    this.database = database;
    const { model } = database.rig;
    this.#play = model.onCall ?? (() => {});
    model.onCall = (call) => {
      const last = call.request.prompt.at(-1);
      const isHeld = last?.kind === 'user' && last.text === HOLD && !this.#released.has(call.request.runId);
      if (!isHeld) return this.#play(call);
      this.#held.push(call);
      void call.text('Held. ');
    };
  }

  /** The model continues with this run, in the held call and in later ones. */
  release(runId: string): void {
    this.#released.add(runId);
    for (const call of this.#held) if (call.request.runId === runId && !call.isClosed) this.#play(call);
  }

  /** Resolves after the crash and the recovery. No server reaches the database before other transactions had their ids. */
  crashAt({ name, has, hasNot = [] }: Case, way: Crash, moment: 'before' | 'after'): Promise<void> {
    const { postgres, proxy, query } = this.database;
    const matches = (sql: string) =>
      has.some((text) => sql.includes(text)) && !hasNot.some((text) => sql.includes(text));
    const nextId = async () => Number((await query('select pg_current_xact_id()::text as id'))[0]?.id);
    const crash = async () => {
      const [found] = await query('select max(backend_xid::text::bigint) as id from pg_stat_activity');
      await postgres.crash(way);
      const first = await nextId();
      // Each iteration is a transaction of its own.
      await query(`do $$ begin for i in 1..${BURNED_IDS} loop perform pg_current_xact_id(); commit; end loop; end $$`);
      const lost = Number(found?.id ?? 0);
      this.crashes += 1;
      if (first <= lost && lost <= (await nextId())) this.reused += 1;
    };
    const crashed = proxy.interrupt({ matches, moment, crash });
    const inTime = within(`crash at the commit of ${name} (${moment}, ${way})`, WAIT_MS, crashed);
    inTime.catch(() => {});
    return inTime;
  }

  /** Posts until a request is admitted, each time under another id. Every answer is compared with the stored runs later. */
  async admitted(id: string, message = 'Hello', api = this.database.rig.api()) {
    const { claims, rig } = this.database;
    const post = async (): Promise<StreamReader> => {
      for (let turn = 1; ; turn += 1, await sleep(200)) {
        const reader = await claims.post(api, { ...WHO, chatId: `chat-${id}`, message }, `${id}.${turn}`);
        if (reader !== null) return reader;
      }
    };
    const reader = await within(`admission in the chat of ${id}`, WAIT_MS, post());
    if (message === HOLD) await within('text of a held run', WAIT_MS, reader.untilText('Held. '));
    return { runId: String(reader.headers['x-run-id']), followed: rig.follow(reader) };
  }

  /** Run, usage, messages and stream agree with each other, and with what the reader got. */
  async checkRun({ runId, frames }: FollowedRun, status = 'completed'): Promise<void> {
    const { run, steps } = await checkStory(this.database.rig, { runId, seen: frames });
    expectEqual(`stuck: runs that are ${run.status}, not ${status}`, Number(run.status !== status), 0);
    if (status === 'completed') expectEqual('lost: steps missing from the journal', STEPS - steps.length, 0);
    this.runs += 1;
  }

  /** Repeats a change until it is acknowledged. Then the database must have it. */
  async changes(what: string, ask: () => Promise<Answer>, crashed: Promise<void>, stored: string, value: string) {
    const untilDone = async () => {
      for (;;) {
        const { status } = await ask();
        // 409: the answer to an earlier attempt was lost, but its change is stored.
        if (status < 300 || status === 409) return crashed;
        expectEqual(`status of a refused ${what}`, status, 503);
        await sleep(200);
      }
    };
    await within(what, WAIT_MS, untilDone());
    const rows = await this.database.query(`select 1 from ${stored} = $1`, [value]);
    expectEqual(`lost: acknowledged ${what} missing from the database`, Number(rows.length === 0), 0);
  }

  /** Runs `work` while clients post without a pause; then checks every answer and every stream that they got. */
  async underLoad(id: string, work: () => Promise<void>): Promise<void> {
    const streams: Promise<FollowedRun>[] = [];
    let isLoading = true;
    const client = async (who: number) => {
      for (let turn = 0; isLoading; turn += 1) {
        const { followed } = await this.admitted(`load-${id}-${who}-${turn}`);
        streams.push(followed);
        await followed.catch(() => {});
      }
    };
    const clients = Array.from({ length: LOAD_CLIENTS }, (_, who) => client(who));
    await work().finally(() => {
      isLoading = false;
      return Promise.allSettled(clients);
    });
    await Promise.all(clients);
    for (const followed of await Promise.all(streams)) await this.checkRun(followed);
  }
}

/** Plays a run from its admission to its end. The crash happens at one of its commits. */
async function playRun(stage: Stage, id: string, crash: ArmCrash, message = 'Hello'): Promise<void> {
  const crashed = crash();
  const { runId, followed } = await stage.admitted(id, message);
  await crashed;
  stage.release(runId);
  await stage.database.checkClaims();
  await stage.checkRun(await followed);
}

async function playCancel(stage: Stage, id: string, crash: ArmCrash): Promise<void> {
  const { rig } = stage.database;
  const { runId, followed } = await stage.admitted(id, HOLD);
  const cancel = () => rig.api().post(`${rig.path}/runs/${runId}/cancel`);
  await stage.changes('cancel', cancel, crash(), 'runs where cancel_requested_at is not null and run_id', runId);
  await stage.checkRun(await followed, 'cancelled');
}

/** The node of a run dies, and the crash happens when another node takes the run over. */
async function playTakeover(stage: Stage, id: string, crash: ArmCrash): Promise<void> {
  const { rig } = stage.database;
  const doomed = await rig.add();
  const { runId, followed } = await stage.admitted(id, HOLD, doomed.api);
  const crashed = crash();
  await doomed.kill();
  rig.servers.pop();
  stage.release(runId);
  await crashed;
  await stage.checkRun(await followed);
  // Three calls: the call that was held when its node died, the same call again, and the call after the tool.
  const calls = rig.model.calls.filter(({ request }) => request.runId === runId).length;
  expectEqual('lost: model calls beyond those of one takeover', calls - 3, 0);
}

async function playAccount(stage: Stage, id: string, crash: ArmCrash): Promise<void> {
  const { rig } = stage.database;
  const operations: readonly [(api: ApiClient) => Promise<Answer>, string, string][] = [
    [(api) => api.put(`${rig.path}/members/${id}`, { name: id }), 'members where consumer_id', id],
    [(api) => api.post('/v2/integrations', { apiIntegrationId: id }), 'integrations where integration_id', id],
    [(api) => api.post('/v2/api_keys', { name: id }), 'api_keys where name_json', JSON.stringify(id)],
  ];
  // Every operation is combined with every way to crash.
  const turn = Math.floor(stage.crashes / WAYS.length) % operations.length;
  for (const [change, stored, value] of operations.slice(turn, turn + 1))
    await stage.changes('account change', () => change(rig.api()), crash(), stored, value);
}

test('the server finds out what became of an unanswered commit', async () => {
  const fault = plantedFault();
  const rounds = scale({ lost: 1, durable: 0, underLoad: 0 }, { lost: 20, durable: 4, underLoad: 5 });
  // The WAL writer would flush what the interrupted transaction wrote, and its id would not be given out again.
  const settings = { wal_writer_delay: '10000' };
  await using database = await startDatabaseRig(50, { nodes: 1, fault, limits: SHORT_LEASE }, settings);
  const stage = new Stage(database);
  for (const one of CASES) {
    for (let place = 0; place < rounds.lost + rounds.durable; place += 1) {
      const way = WAYS[stage.crashes % WAYS.length] as Crash;
      const crash = () => stage.crashAt(one, way, place < rounds.lost ? 'before' : 'after');
      const play = () => one.play(stage, `${one.name}-${place}`, crash);
      await (place < rounds.underLoad ? stage.underLoad(`${one.name}-${place}`, play) : play());
    }
  }
  const wrong = await database.checkClaims();
  const active = await database.query(`select 1 from runs where status in ('admitted', 'running')`);
  const { claims } = database;
  count({
    commits: CASES.length,
    crashes: expectEqual('crashes', stage.crashes, CASES.length * (rounds.lost + rounds.durable)),
    under_load: CASES.length * rounds.underLoad,
    ids_reused: expectAtLeast('crashes after which the id was used again', stage.reused, 1),
    requests: claims.said.size,
    refused: expectAtLeast('lost admissions that were refused', claims.count('false'), 1),
    unknown: claims.count('none'),
    runs: stage.runs,
    ...wrong,
    // Each of them throws as soon as it is not 0.
    lost: 0,
    stuck: expectEqual('stuck: runs that stay active', active.length, 0),
    holes: 0,
  });
});
