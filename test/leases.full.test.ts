import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiClient,
  askDatabase,
  ModelController,
  migratedDatabase,
  NodeGroup,
  PostgresServer,
  type ServerProcess,
  scriptedModel,
  startTestServer,
} from '@runwire/test-kit';
import { eventually } from './support/eventually.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;
const RUNS = '/v2/integrations/demo/runs';
/** Shorter times than in production. */
const SHORT = { leaseMs: 3000, beatMs: 750 };
/** No periodic heartbeat happens during a test. */
const NEVER_BY_THE_BEAT = { leaseMs: 600_000, beatMs: 300_000 };

async function group(count: number, each?: Parameters<typeof NodeGroup.start>[2]) {
  const model = await ModelController.start();
  const nodes = await NodeGroup.start(count, { controllerPort: model.port, limits: SHORT }, each);
  return {
    model,
    nodes,
    async [Symbol.asyncDispose]() {
      await nodes[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

async function held(node: ServerProcess, model: ModelController, body = {}) {
  const reader = await node.api.complete(body);
  assert.equal(reader.status, 200);
  return { reader, runId: String(reader.headers['x-run-id']), call: await model.nextCall() };
}

const runOf = async (api: ApiClient, runId: string) => (await api.get(`${RUNS}/${runId}`)).body;
const ended = (api: ApiClient, runId: string) =>
  eventually('the run has ended', async () => (await runOf(api, runId)).completedAt !== null);

test('runs of a killed node are completed by the others, and both are counted', { skip }, async () => {
  await using it = await group(3);
  const [doomed, other] = [it.nodes.node(0), it.nodes.node(1)];
  const runs = await Promise.all([1, 2, 3].map(() => doomed.api.complete({})));
  it.model.onCall = (call) => {
    if (call.request.attempt > 1) void call.text('Elsewhere').then(() => call.end());
  };
  await doomed.kill();
  for (const reader of runs) {
    const runId = String(reader.headers['x-run-id']);
    assert.equal(await reader.over, false, 'cut without an end');
    await ended(other.api, runId);
    const run = await runOf(other.api, runId);
    assert.deepEqual([run.status, run.attempt, run.message], ['completed', 2, 'Elsewhere']);
  }
  const { body } = await other.api.get('/metrics');
  assert.match(String(body), /^runwire_beat_age_seconds \d/m);
  const counts = await Promise.all([1, 2].map(async (place) => (await it.nodes.node(place).api.get('/metrics')).body));
  const sum = (name: string) =>
    counts.flatMap((text) => [...String(text).matchAll(new RegExp(`^${name}\\S* (\\d+)$`, 'gm'))]);
  assert.equal(
    sum('runwire_nodes_fenced_total').reduce((all, [, n]) => all + Number(n), 0),
    1,
  );
  assert.equal(
    sum('runwire_runs_taken_over_total').reduce((all, [, n]) => all + Number(n), 0),
    3,
  );
});

test('a run of a dead node with a requested cancel is cancelled by the next node', { skip }, async () => {
  await using it = await group(2);
  const [doomed, other] = [it.nodes.node(0), it.nodes.node(1)];
  const { runId, call } = await held(doomed, it.model);
  await call.text('Half a ');
  void doomed.api.post(`${RUNS}/${runId}/cancel`, { mode: 'after_step' }).catch(() => {});
  await eventually('the intent is stored', async () => (await runOf(other.api, runId)).cancelRequested !== null);
  await doomed.kill();
  await ended(other.api, runId);
  const run = await runOf(other.api, runId);
  assert.deepEqual([run.status, run.attempt, run.error], ['cancelled', 2, null]);
});

test('a run whose nodes died too often ends as interrupted', { skip }, async () => {
  await using it = await group(2, () => ({ limits: { ...SHORT, maxAttempts: 1 } }));
  const { runId } = await held(it.nodes.node(0), it.model);
  await it.nodes.node(0).kill();
  await ended(it.nodes.node(1).api, runId);
  const run = await runOf(it.nodes.node(1).api, runId);
  assert.deepEqual([run.status, run.error.code], ['failed', 'run_interrupted']);
});

test('a node frozen past its lease gives up its runs and serves as a new node', {
  skip,
}, async () => {
  await using it = await group(2);
  const [still, other] = [it.nodes.node(0), it.nodes.node(1)];
  const { reader, runId, call } = await held(still, it.model, { chatId: 'c' });
  await call.text('Seen. ');
  await reader.untilText('Seen. ');
  still.freeze();
  // This text of the model waits in the socket of a node that has lost the run.
  await call.text('Never told. ');
  const again = await it.model.nextCall();
  assert.deepEqual([again.request.runId, again.request.attempt], [runId, 2]);
  const before = reader.text;
  still.unfreeze();
  assert.equal(await reader.over, false, 'cut without an end');
  assert.equal(reader.text, before, 'and without another word');
  await call.closed;
  await eventually('it is ready', async () => (await still.api.get('/readyz')).status === 200);
  await again.text('Elsewhere.');
  await again.end();
  await ended(still.api, runId);
  assert.deepEqual((await runOf(other.api, runId)).message, 'Elsewhere.');

  const next = await eventually('it takes runs', async () => {
    const posted = await still.api.complete({ chatId: 'c' });
    return posted.status === 200 ? posted : null;
  });
  const call2 = await it.model.nextCall();
  await call2.text('Here again.');
  await call2.end();
  await next.whole();
  assert.equal(messagesFrame(next).status, 'completed');
  const rows = await it.nodes.query('select dead, count(*)::int as nodes from nodes group by dead order by dead');
  assert.deepEqual(rows, [
    { dead: 0, nodes: 2 },
    { dead: 1, nodes: 1 },
  ]);
});

test('a node frozen for less than its lease keeps its runs and readers', { skip }, async () => {
  const limits = { leaseMs: 16_000, beatMs: 1000 };
  await using it = await group(2, () => ({ limits }));
  const still = it.nodes.node(0);
  const { reader, runId, call } = await held(still, it.model);
  await call.text('Before, ');
  await reader.untilText('Before, ');
  still.freeze();
  await call.text('after.');
  // Long enough that the node must check whether it still owns the run.
  await sleep((limits.leaseMs * 3) / 8 + 500);
  still.unfreeze();
  await reader.untilText('after.');
  await call.end();
  await reader.whole();
  assert.equal(messagesFrame(reader).status, 'completed');
  assert.equal((await runOf(still.api, runId)).attempt, 1);
});

test('an outage longer than the lease takes no run from a living node', { skip }, async () => {
  await using postgres = await PostgresServer.start();
  await using model = await ModelController.start();
  const options = { model: scriptedModel(model.port), limits: SHORT, env: { DATABASE_URL: await postgres.database() } };
  await using one = await startTestServer(options);
  await using other = await startTestServer(options);
  const reader = await one.api.complete({});
  const call = await model.nextCall();
  await call.text('Before, ');
  await postgres.stop();
  await sleep(3 * SHORT.leaseMs);
  await postgres.startAgain();
  await call.text('after.');
  // Longer than a node would wait if it counted the outage as silence.
  await sleep(2 * SHORT.leaseMs);
  await call.end();
  await reader.whole();
  assert.equal(messagesFrame(reader).status, 'completed');
  assert.equal((await runOf(other.api, String(reader.headers['x-run-id']))).attempt, 1);
  assert.deepEqual(await askDatabase(options.env.DATABASE_URL, 'select distinct dead from nodes'), [{ dead: 0 }]);
});

test('a node without a heartbeat for a lease starts no call until it has one', { skip }, async () => {
  await using database = await migratedDatabase();
  await using rig = await ScriptedServer.start({ limits: SHORT, env: { DATABASE_URL: database.url } });
  const beatAge = async () =>
    Number(/^runwire_beat_age_seconds (\S+)$/m.exec(String((await rig.api.get('/metrics')).body))?.[1]) * 1000;
  await eventually('it beats', async () => (await beatAge()) < SHORT.leaseMs);
  await askDatabase(database.url, 'alter table node_beats rename to hidden_beats');
  await eventually('its beat is old', async () => (await beatAge()) > SHORT.leaseMs);
  const reader = await rig.api.complete({});
  assert.equal(reader.status, 200, 'it is admitted: the store takes writes');
  // These requests use the same process, so a call would have been made long before they end.
  for (let i = 0; i < 50; i += 1) assert.equal((await rig.api.get('/v2/me')).status, 200);
  assert.equal(rig.controller.calls.length, 0);
  await askDatabase(database.url, 'alter table hidden_beats rename to node_beats');
  const call = await rig.controller.nextCall();
  await call.end();
  await reader.whole();
  assert.equal(messagesFrame(reader).status, 'completed');
});

test('a node marked dead refuses with header false, then serves as a new node', { skip }, async () => {
  await using database = await migratedDatabase();
  const env = { DATABASE_URL: database.url };
  await using rig = await ScriptedServer.start({ limits: NEVER_BY_THE_BEAT, env });
  const { reader, call } = await rig.hold({ chatId: 'a' });
  await askDatabase(database.url, 'update nodes set dead = 1');
  const { status, admitted, body } = await refusal(await rig.api.complete({ chatId: 'b' }));
  assert.deepEqual([status, admitted, body.code], [503, 'false', 'unavailable']);
  assert.equal(await reader.over, false, 'its runs are given up in the same step');
  await call.closed;
  const next = await eventually('it takes runs', async () => {
    const posted = await rig.api.complete({ chatId: 'b' });
    return posted.status === 200 ? posted : null;
  });
  const second = await rig.controller.nextCall();
  await second.end();
  await next.whole();
  assert.equal(messagesFrame(next).status, 'completed');
});

test('a node of a version without heartbeats is never declared dead', { skip }, async () => {
  await using it = await group(3);
  const [old, doomed, other] = [it.nodes.node(0), it.nodes.node(1), it.nodes.node(2)];
  const first = await held(old, it.model);
  old.freeze();
  const runs = await it.nodes.query(`select node_id from runs where run_id = '${first.runId}'`);
  await it.nodes.query(`delete from node_beats where node_id = '${runs[0]?.node_id}'`);
  // A node that dies later is declared dead. By then the others have also looked long enough at the first node.
  const second = await held(doomed, it.model);
  await doomed.kill();
  const again = await it.model.nextCall();
  assert.equal(again.request.runId, second.runId);
  await again.end();
  await ended(other.api, second.runId);
  assert.equal((await runOf(other.api, first.runId)).attempt, 1);
  assert.deepEqual(await it.nodes.query(`select dead from nodes where node_id = '${runs[0]?.node_id}'`), [{ dead: 0 }]);
});
