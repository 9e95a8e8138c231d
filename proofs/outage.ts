import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiClient,
  answerOf,
  CommitProxy,
  type Followed,
  follow,
  PostgresServer,
  type ServerProcess,
  type StreamReader,
  ThreeStepLoad,
} from '@runwire/test-kit';
import { Claims } from './support/claims.ts';
import { DataFolder } from './support/data-folder.ts';
import { expectAtLeast, expectAtMost, expectNumber, type Proof, within } from './support/proof.ts';
import { SHORT_LEASE } from './support/start-nodes.ts';
import { startServer } from './support/start-server.ts';

const NODES = 3;
const SHORT_OUTAGE_MS = 2 * SHORT_LEASE.leaseMs;
const SETTLE_MS = 120_000;
/** To connect, to be answered and to look what became of a commit take 5, 8 and 5 s at most; the rest is the machine's. */
const ANSWER_MS = 20_000;
const WHO = { apiIntegrationId: 'mine', consumerId: 'ann' };
const RUNS = `select usage_request_id as id, status, attempt, created_at, completed_at,
  input_tokens + output_tokens as tokens from runs`;

interface Stage extends AsyncDisposable {
  readonly postgres: PostgresServer;
  readonly load: ThreeStepLoad;
  readonly servers: readonly ServerProcess[];
  readonly database: string;
  readonly proxy: CommitProxy;
  readonly over: AbortSignal;
}

/** Servers on one database, behind a proxy that can swallow, and a metered integration whose runs call a tool. */
async function stage(fault: string | null, short: boolean, pauseMs: number): Promise<Stage> {
  await using building = new AsyncDisposableStack();
  const postgres = building.use(await PostgresServer.start());
  const load = building.use(await ThreeStepLoad.start(pauseMs));
  const folder = building.use(new DataFolder());
  const proxy = building.use(await CommitProxy.start(postgres.port));
  const direct = await postgres.database();
  const url = direct.replace(`:${postgres.port}/`, `:${proxy.port}/`);
  const limits = short ? SHORT_LEASE : {};
  const options = { dataDir: folder.path, controllerPort: load.model.port, limits, env: { DATABASE_URL: url } };
  const start = async () => building.use(await startServer(fault, options));
  const starts = Array.from({ length: NODES }, start);
  await Promise.allSettled(starts);
  const servers = await Promise.all(starts);
  const allowances = { unit: 'tokens', limit: 100_000_000, period: 'lifetime' };
  await servers[0]?.api.post('/v2/integrations', { apiIntegrationId: 'mine', agency: 'gate', allowances });
  await servers[0]?.api.put('/v2/integrations/mine/members/ann', {});
  const over = new AbortController();
  building.defer(() => over.abort());
  const stack = building.move();
  const database = new URL(direct).pathname.slice(1);
  return {
    postgres,
    load,
    servers,
    database,
    proxy,
    over: over.signal,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function followed(reader: StreamReader, { servers, over }: Stage): Promise<Followed> {
  const read = follow(reader, () => servers.map(({ api }) => api), 'mine', over);
  // Where the proof falls short before, nobody waits for it.
  read.catch(() => {});
  return read;
}

/** Waits until no run is unfinished, and holds all of them against what they must have come to. */
async function settled(prefix: string, { postgres, servers, database, load }: Stage, claims: Claims) {
  const rows = () => postgres.query(RUNS, database);
  const wrong = async () => claims.wrong(prefix, new Set((await rows()).map(({ id }) => id)));
  // At once too: a run that nobody was told of may never end.
  await wrong();
  const isOver = async () => (await rows()).every(({ completed_at: at }) => at !== null);
  await within(
    `${prefix}end of all runs`,
    SETTLE_MS,
    (async () => {
      while (!(await isOver())) await sleep(200);
    })(),
  );
  const runs = await rows();
  const count = (holds: (run: Record<string, unknown>) => boolean) => runs.filter(holds).length;
  const takenOver = expectNumber(
    `${prefix}runs taken over`,
    count(({ attempt }) => attempt !== 1),
    0,
  );
  expectNumber(
    `${prefix}runs completed`,
    count(({ status }) => status === 'completed'),
    runs.length,
  );
  expectNumber(
    `${prefix}runs with their own tokens`,
    count(({ tokens }) => Number(tokens) === load.tokens),
    runs.length,
  );
  const repeated = expectNumber(`${prefix}calls made twice`, load.repeated, 0);
  const { body: member } = (await servers[0]?.api.get('/v2/integrations/mine/members/ann')) ?? { body: null };
  expectNumber(`${prefix}tokens charged`, member.allowance.used, runs.length * load.tokens);
  expectNumber(`${prefix}tokens reserved`, member.allowance.reserved, 0);
  const dead = await postgres.query('select count(*) as n from nodes where dead = 1', database);
  expectNumber(`${prefix}nodes taken for dead`, Number(dead[0]?.n), 0);
  return { runs, takenOver, repeated, wrong: await wrong() };
}

/** PostgreSQL is stopped under load: runs in flight with tools, and requests all the time. */
async function stopped(scene: Stage, outageMs: number, pauseMs: number) {
  const { servers, postgres, load } = scene;
  const apis = () => servers.map(({ api }) => api);
  const claims = new Claims();
  const calledBefore = load.gate.calls.length;
  const streams: Promise<Followed>[] = [];
  let loading = true;
  const client = async (who: number) => {
    for (let turn = 0; loading && !scene.over.aborted; turn += 1) {
      const reader = await claims.post(apis()[who % NODES] as ApiClient, WHO, `${who}-${turn}`);
      if (reader !== null) streams.push(followed(reader, scene));
      // Admitted, each goes on by itself; refused, it is not asked again at once.
      await sleep(reader === null ? 250 : pauseMs);
    }
  };
  const clients = Array.from({ length: 2 * NODES }, (_, who) => client(who));
  await within(
    'runs with a call of the tool',
    SETTLE_MS,
    (async () => {
      while (load.gate.calls.length < calledBefore + 2 * NODES) await sleep(50);
    })(),
  );
  const wentAt = Date.now();
  await postgres.stop();
  await sleep(outageMs);
  const cameAt = Date.now();
  await postgres.startAgain();
  const before = claims.count('true');
  await within(
    'an admission after the outage',
    SETTLE_MS,
    (async () => {
      while (claims.count('true') <= before + NODES) await sleep(50);
    })(),
  );
  loading = false;
  await within('answers to all requests', SETTLE_MS, Promise.all(clients));
  const read = await within('end of all streams', SETTLE_MS, Promise.all(streams));
  const { runs, takenOver, repeated, wrong } = await settled('', scene, claims);
  const whole = read.filter(({ frames }) => answerOf(frames) === load.answer).length;
  expectNumber('streams read whole', whole, read.length);
  const inFlight = runs.filter((run) => Number(run.created_at) < wentAt && Number(run.completed_at) > cameAt).length;
  expectAtLeast('runs in flight', inFlight, 1);
  return {
    nodes: NODES,
    outage_s: Math.round((cameAt - wentAt) / 1000),
    requests: claims.size,
    runs: runs.length,
    in_flight: inFlight,
    refused: expectAtLeast('requests refused', claims.count('false'), 1),
    unknown: claims.count('none'),
    wrong_true: wrong.falseTrue,
    wrong_false: wrong.falseFalse,
    taken_over: takenOver,
    repeated,
    streams: read.length,
    slowest_ms: expectAtMost('slowest answer in ms', claims.slowestMs, ANSWER_MS),
  };
}

/** The answers to commits of admissions are swallowed: in every other round the database then lets nobody in for a while. */
async function swallowed(scene: Stage, rounds: number) {
  const { servers, proxy } = scene;
  const apis = () => servers.map(({ api }) => api);
  const claims = new Claims();
  const readers: Promise<unknown>[] = [];
  const posts = 8;
  for (let round = 0; round < rounds; round += 1) {
    const before = proxy.swallowed;
    proxy.swallow(posts / 2, 'insert run', round % 2 === 0);
    const sent = Array.from({ length: posts }, async (_, place) => {
      const reader = await claims.post(apis()[place % NODES] as ApiClient, WHO, `s${round}-${place}`);
      if (reader !== null) readers.push(followed(reader, scene));
    });
    await within('answers to all requests', SETTLE_MS, Promise.all(sent));
    proxy.swallow(0, '', false);
    proxy.unblock();
    expectAtLeast('answers swallowed in a round', proxy.swallowed - before, 1);
    for (const api of apis()) while ((await api.get('/readyz')).status !== 200) await sleep(200);
  }
  const { wrong } = await settled('swallowed: ', scene, claims);
  await within('swallowed: end of all streams', SETTLE_MS, Promise.all(readers));
  return {
    swallowed: proxy.swallowed,
    swallowed_requests: claims.size,
    swallowed_true: claims.count('true'),
    swallowed_unknown: expectAtLeast('swallowed: answers without the header', claims.count('none'), 1),
    swallowed_wrong_true: wrong.falseTrue,
    swallowed_wrong_false: wrong.falseFalse,
  };
}

export const proof: Proof = {
  name: 'outage',
  minutes: 5,
  faults: {
    'claims-false': /^swallowed: header `false` for an admitted run: expected 0, found \d+\.$/m,
    'fences-the-living': /^runs taken over: expected 0, found \d+\.$/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const pauseMs = short ? 500 : 1000;
    await using scene = await stage(fault, short, pauseMs);
    // What the fault says shows in the first round.
    const rounds = fault === 'claims-false' ? 1 : short ? 2 : 40;
    const commits = fault === 'fences-the-living' ? {} : await swallowed(scene, rounds);
    // Longer than a lease: whoever judged by the time alone would take all others for dead. The fault does so at once.
    const outageMs = fault === 'fences-the-living' ? 3000 : short ? SHORT_OUTAGE_MS : 60_000;
    const outage = await stopped(scene, outageMs, pauseMs);
    return { ...outage, ...commits };
  },
};
