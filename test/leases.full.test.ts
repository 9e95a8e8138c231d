import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, askDatabase, migratedDatabase, Rig, SHORT_LEASE } from '@runwire/test-kit';
import { eventually } from './support/eventually.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;
const RUNS = '/v2/integrations/demo/runs';
/** No periodic heartbeat happens during a test. */
const NEVER_BY_THE_BEAT = { leaseMs: 600_000, beatMs: 300_000 };

async function held(rig: Rig, place: number) {
  const reader = await rig.api(place).complete({});
  assert.equal(reader.status, 200);
  return { reader, runId: String(reader.headers['x-run-id']), call: await rig.model.nextCall() };
}

const getRun = async (api: ApiClient, runId: string) => (await api.get(`${RUNS}/${runId}`)).body;
const ended = (api: ApiClient, runId: string) =>
  eventually('the run has ended', async () => (await getRun(api, runId)).completedAt !== null);

test('a node frozen for less than its lease keeps its runs and readers', { skip }, async () => {
  const limits = { leaseMs: 16_000, beatMs: 1000 };
  await using rig = await Rig.start({ nodes: 2, limits });
  const still = rig.server(0);
  const { reader, runId, call } = await held(rig, 0);
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
  assert.equal((await getRun(still.api, runId)).attempt, 1);
});

test('a node without a heartbeat for a lease starts no call until it has one', { skip }, async () => {
  await using database = await migratedDatabase();
  await using rig = await ScriptedServer.start({ limits: SHORT_LEASE, env: { DATABASE_URL: database.url } });
  const beatAge = async () =>
    Number(/^runwire_beat_age_seconds (\S+)$/m.exec(String((await rig.api.get('/metrics')).body))?.[1]) * 1000;
  await eventually('it beats', async () => (await beatAge()) < SHORT_LEASE.leaseMs);
  await askDatabase(database.url, 'alter table node_beats rename to hidden_beats');
  await eventually('its beat is old', async () => (await beatAge()) > SHORT_LEASE.leaseMs);
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
  await using rig = await Rig.start({ nodes: 3, limits: SHORT_LEASE });
  const [old, doomed, other] = [rig.server(0), rig.server(1), rig.server(2)];
  const first = await held(rig, 0);
  old.freeze();
  const runs = await rig.query(`select node_id from runs where run_id = '${first.runId}'`);
  await rig.query(`delete from node_beats where node_id = '${runs[0]?.node_id}'`);
  // A node that dies later is declared dead. By then the others have also looked long enough at the first node.
  const second = await held(rig, 1);
  await doomed.kill();
  const again = await rig.model.nextCall();
  assert.equal(again.request.runId, second.runId);
  await again.end();
  await ended(other.api, second.runId);
  assert.equal((await getRun(other.api, first.runId)).attempt, 1);
  assert.deepEqual(await rig.query(`select dead from nodes where node_id = '${runs[0]?.node_id}'`), [{ dead: 0 }]);
});
