import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FollowedRun, SHORT_LEASE, toAnswer } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectAtMost, expectEqual, until, within } from '@runwire/test-kit/shortfall.ts';
import { Claims } from './support/claims.ts';
import { type DatabaseRig, startDatabaseRig, WHO } from './support/database-rig.ts';
import { expectAllowance } from './support/story.ts';

/* Three nodes lose their PostgreSQL: first only the answers to commits of admissions, then the whole database, under load. */

const NODES = 3;
const SETTLE_MS = 120_000;
/** Connecting, answering and finding out what became of a commit take 5, 8 and 5 s at most; the rest is the machine's. */
const ANSWER_MS = 20_000;
const POSTS = 8;

/** Waits until every run has ended, and compares all runs with the answers to the callers and with the charges. */
async function settled(prefix: string, stage: DatabaseRig) {
  const { load, rig, query } = stage;
  const rows = () =>
    query('select status, attempt, created_at, completed_at, input_tokens + output_tokens as tokens from runs');
  // Before the end, too: a run that no caller knows may never end.
  await stage.checkClaims(prefix);
  const isOver = async () => (await rows()).every(({ completed_at: at }) => at !== null);
  await until(`${prefix}end of all runs`, isOver, { limitMs: SETTLE_MS, pauseMs: 200 });
  const runs = await rows();
  const takenOver = runs.filter(({ attempt }) => attempt !== 1).length;
  const whole = runs.filter(({ status, tokens }) => status === 'completed' && Number(tokens) === load.tokens);
  const dead = await query('select 1 from nodes where dead = 1');
  const counts = {
    taken_over: expectEqual(`${prefix}runs taken over`, takenOver, 0),
    repeated: expectEqual(`${prefix}calls made twice`, load.repeated, 0),
  };
  expectEqual(`${prefix}runs completed with their own tokens`, whole.length, runs.length);
  await expectAllowance(rig.api(), `${rig.path}/members/${WHO.consumerId}`, runs.length * load.tokens);
  expectEqual(`${prefix}nodes declared dead`, dead.length, 0);
  return { runs, counts, wrong: await stage.checkClaims(prefix) };
}

/** PostgreSQL is stopped under load: runs that call tools, and requests all the time. */
async function stopped(stage: DatabaseRig, outageMs: number, pauseMs: number) {
  const { postgres, load, rig } = stage;
  stage.claims = new Claims();
  const { claims } = stage;
  const called = load.gate.calls.length;
  const streams: Promise<FollowedRun>[] = [];
  let isLoading = true;
  const client = async (who: number) => {
    for (let turn = 0; isLoading; turn += 1) {
      const reader = await claims.post(rig.api(who), WHO, `${who}-${turn}`);
      if (reader !== null) streams.push(rig.follow(reader));
      await sleep(reader === null ? 250 : pauseMs);
    }
  };
  const clients = Array.from({ length: 2 * NODES }, (_, who) => client(who));
  const patience = { limitMs: SETTLE_MS };
  await until('runs with a call of the tool', () => load.gate.calls.length >= called + 2 * NODES, patience);
  const wentAt = Date.now();
  await postgres.stop();
  await sleep(outageMs);
  const cameAt = Date.now();
  await postgres.startAgain();
  const before = claims.count('true');
  await until('an admission after the outage', () => claims.count('true') > before + NODES, patience).finally(() => {
    isLoading = false;
  });
  await within('answers to all requests', SETTLE_MS, Promise.all(clients));
  const read = await within('end of all streams', SETTLE_MS, Promise.all(streams));
  const { runs, wrong, counts } = await settled('', stage);
  const whole = read.filter(({ frames }) => toAnswer(frames) === load.answer).length;
  const inFlight = runs.filter((run) => Number(run.created_at) < wentAt && Number(run.completed_at) > cameAt).length;
  return {
    nodes: NODES,
    outage_s: Math.round((cameAt - wentAt) / 1000),
    requests: claims.said.size,
    runs: runs.length,
    in_flight: expectAtLeast('runs in flight', inFlight, 1),
    refused: expectAtLeast('requests refused', claims.count('false'), 1),
    unknown: claims.count('none'),
    ...wrong,
    ...counts,
    streams: expectEqual('streams read whole', whole, read.length),
    slowest_ms: expectAtMost('slowest answer in ms', claims.slowestMs, ANSWER_MS),
  };
}

/** The answers to commits of admissions are lost. In every other round the database then refuses connections for a while. */
async function swallowed(stage: DatabaseRig, rounds: number) {
  const { rig, proxy, claims } = stage;
  const streams: Promise<unknown>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = proxy.swallowed;
    proxy.swallow(POSTS / 2, 'insert runs', round % 2 === 0);
    const sent = Array.from({ length: POSTS }, async (_, place) => {
      const reader = await claims.post(rig.api(place), WHO, `s${round}-${place}`);
      if (reader !== null) streams.push(rig.follow(reader));
    });
    await within('answers to all requests', SETTLE_MS, Promise.all(sent));
    proxy.swallow(0, '', false);
    proxy.unblock();
    expectAtLeast('answers swallowed in a round', proxy.swallowed - before, 1);
    for (const { api } of rig.servers) await until('readiness', async () => (await api.get('/readyz')).status === 200);
  }
  const { wrong } = await settled('swallowed: ', stage);
  await within('swallowed: end of all streams', SETTLE_MS, Promise.all(streams));
  return {
    swallowed: proxy.swallowed,
    swallowed_requests: claims.said.size,
    swallowed_true: claims.count('true'),
    swallowed_unknown: expectAtLeast('swallowed: answers without the header', claims.count('none'), 1),
    swallowed_wrong_true: wrong.wrong_true,
    swallowed_wrong_false: wrong.wrong_false,
  };
}

test('an outage of the database loses and repeats nothing', async () => {
  const fault = plantedFault();
  const pauseMs = scale(500, 1000);
  await using stage = await startDatabaseRig(pauseMs, {
    nodes: NODES,
    fault,
    limits: scale<object>(SHORT_LEASE, {}),
  });
  const rounds = fault === 'claims-false' ? 1 : scale(2, 40);
  const commits = fault === 'fences-the-living' ? {} : await swallowed(stage, rounds);
  // Longer than a lease: a node that judged by time alone would declare all others dead.
  const outageMs = fault === 'fences-the-living' ? 3000 : scale(2 * SHORT_LEASE.leaseMs, 60_000);
  count({ ...(await stopped(stage, outageMs, pauseMs)), ...commits });
});
