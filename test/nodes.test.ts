import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import {
  askDatabase,
  migratedDatabase,
  Rig,
  SHORT_LEASE,
  STORES,
  startTestServer,
  TEST_API_KEY,
} from '@runwire/test-kit';
import { GENERATION } from '../packages/server/src/store/generation.ts';
import { cites } from '../requirements/cite.ts';
import { toRows } from './support/columns.ts';
import { eventually } from './support/eventually.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;

interface NodeRecord {
  readonly nodeId: string;
  readonly state: string;
  readonly host: string | null;
  readonly address: string | null;
  readonly self: boolean;
  readonly activeRuns: number;
  readonly startedAt: string;
  readonly lastSeenAt: string | null;
  readonly stats: { readonly openStreams: number; readonly admissions: { readonly admitted: number } } | null;
}

test('only the administrator sees the nodes, with their runs', async (t) => {
  cites(t, 'contract-3-nodes', 'contract-9-node', 'contract-8-403-administrator-only');
  await using rig = await ScriptedServer.start();
  const { call, reader } = await rig.hold({});
  const { status, body } = await rig.api.get('/v2/nodes');
  assert.equal(status, 200);
  const [node, ...others] = body.items;
  const { nodeId, boot, version, startedAt, lastSeenAt, stats: _, ...rest } = node;
  const address = new URL(rig.server.url).host;
  assert.deepEqual(rest, { state: 'alive', self: true, activeRuns: 1, host: hostname(), address });
  assert.match(nodeId, /^node_/);
  assert.match(version, /^\d+\.\d+\.\d+/);
  assert.ok(boot.length > 0);
  assert.ok(Date.parse(lastSeenAt) >= Date.parse(startedAt));
  assert.deepEqual([others, body.nextCursor], [[], null]);
  await call.end();
  await reader.whole();
  assert.equal((await rig.api.get('/v2/nodes')).body.items[0].activeRuns, 0);

  const { body: owner } = await rig.api.post('/v2/owners', { email: 'other@example.com' });
  const refused = await rig.api.as(owner.apiKey).get('/v2/nodes');
  assert.deepEqual([refused.status, refused.body.code], [403, 'administrator_only']);
  assert.equal((await rig.api.as(null).get('/v2/nodes')).status, 401);
});

for (const store of STORES) {
  test(`a node shows its streams, admissions, event lag and writer queue (${store})`, async (t) => {
    cites(t, 'clients-18-node-stats', 'contract-3-nodes');
    await using rig = await ScriptedServer.start({ store, limits: SHORT_LEASE });
    const stats = async () => (await rig.api.get('/v2/nodes')).body.items[0].stats;
    const shows = (openStreams: number, admissions: object) => async () => {
      const found = await stats();
      return JSON.stringify([found?.openStreams, found?.admissions]) === JSON.stringify([openStreams, admissions]);
    };
    await eventually('a start with nothing', shows(0, { admitted: 0, replayed: 0, refused: {} }));
    const body = { apiIntegrationId: await rig.integration(), chatId: 'c1', usageRequestId: 'u1', message: 'Hi' };
    const { call, reader } = await rig.hold(body);
    assert.equal((await rig.api.post('/get_completion_v2', { ...body, usageRequestId: 'u2' })).status, 409);
    assert.equal((await rig.api.post('/get_completion_v2', { ...body, usageRequestId: 'u3', message: 5 })).status, 400);
    assert.equal((await rig.api.as(null).post('/get_completion_v2', body)).status, 401);
    const refused = { run_active: 1, invalid_request: 1, invalid_api_key: 1 };
    await eventually('one open stream', shows(1, { admitted: 1, replayed: 0, refused }));
    await call.text('Hello');
    await call.end();
    await reader.whole();
    await (await rig.api.complete(body)).whole();
    await eventually('no open stream, one replay', shows(0, { admitted: 1, replayed: 1, refused }));
    const { eventLagMs, writerQueue } = await stats();
    assert.ok(Number.isInteger(eventLagMs) && eventLagMs >= 0, `${eventLagMs}`);
    assert.equal(writerQueue, 0);
  });
}

test('an earlier start of an embedded server is not a node', async () => {
  await using first = await startTestServer({ env: { DATABASE_URL: '' } });
  const { dataDir } = first;
  await first.server[Symbol.asyncDispose]();
  await using again = await startTestServer({ dataDir, env: { DATABASE_URL: '' } });
  const { items } = (await again.api.get('/v2/nodes')).body;
  assert.deepEqual(toRows(items, 'state', 'self'), [['alive', true]]);
});

test('every node lists all nodes with their states, newest first', { skip }, async () => {
  await using database = await migratedDatabase();
  await using rig = await Rig.open({ databaseUrl: database.url, limits: SHORT_LEASE });
  // The nodes start one after the other, because the list is sorted by their start.
  const [draining, doomed, other] = [await rig.add(), await rig.add(), await rig.add()];
  const list = async (): Promise<NodeRecord[]> => (await other.api.get('/v2/nodes')).body.items;
  const states = async () => (await list()).map(({ state, self, activeRuns }) => [state, self, activeRuns]);
  const reader = await draining.api.complete({});
  const call = await rig.model.nextCall();
  await eventually('other nodes show their figures', async () =>
    (await list()).every(({ stats }) => stats?.admissions !== undefined),
  );
  await doomed.kill();
  process.kill(draining.pid, 'SIGTERM');
  const expected = [
    ['alive', true, 0],
    ['dead', false, 0],
    ['draining', false, 1],
  ];
  await eventually('all is listed', async () => JSON.stringify(await states()) === JSON.stringify(expected));
  assert.deepEqual(
    (await list()).map(({ host, address }) => [host, address]),
    [other, doomed, draining].map(({ url }) => [hostname(), new URL(url).host]),
  );
  const figures = async () => (await list()).map(({ stats }) => [stats?.openStreams, stats?.admissions.admitted]);
  await eventually('the figures of the run', async () => JSON.stringify(await figures()) === '[[0,0],[0,0],[1,1]]');
  const before = (await list()).find(({ self }) => self)?.lastSeenAt ?? '';
  await eventually(
    'it is seen again',
    async () => ((await list()).find(({ self }) => self)?.lastSeenAt ?? '') > before,
  );
  const firstPage = (await other.api.get('/v2/nodes?limit=1')).body;
  const secondPage = (await other.api.get(`/v2/nodes?limit=1&cursor=${firstPage.nextCursor}`)).body;
  assert.deepEqual([firstPage.items[0].self, secondPage.items[0].state], [true, 'dead']);
  await call.end();
  await reader.whole();
  await draining.gone;
  assert.deepEqual(
    (await states()).map(([state]) => state),
    ['alive', 'dead', 'dead'],
  );
});

test('a node that has been gone for a day is deleted, with its rows', { skip }, async () => {
  await using database = await migratedDatabase();
  const env = { DATABASE_URL: database.url, RUNWIRE_API_KEY: TEST_API_KEY };
  await using server = await startTestServer({ env });
  const day = 86_400_000;
  const long = Date.now() - day - 60_000;
  const nodes = [
    ['old', 1, long, long],
    ['released', 2, long, long],
    ['seen', 1, long, Date.now() - day / 2],
    ['silent', 0, long, 0],
    ['young', 1, Date.now(), 0],
  ] as const;
  for (const [id, dead, startedAt, seenAt] of nodes) {
    await askDatabase(
      database.url,
      `insert into nodes (node_id, boot, dead, version, started_at, generation) values ('${id}', 'b', ${dead}, '0.0.1', ${startedAt}, ${GENERATION});
       insert into node_beats (node_id, beat, seen_at, draining) values ('${id}', 1, ${seenAt}, 0);
       insert into run_readers (run_id, node_id) values ('r', '${id}')`,
    );
  }
  const mark = (process: string, raisedAt: number) =>
    askDatabase(database.url, 'insert into commit_marks values ($1, 1, 1, $2)', [process, raisedAt]);
  await mark('old', Date.now() - day - 60_000);
  await mark('open', Date.now() - day / 2);
  await server.server.probes.sweepNodes();
  const marks = await askDatabase(database.url, `select process from commit_marks where process in ('old', 'open')`);
  assert.deepEqual(marks, [{ process: 'open' }]);
  const left = async (table: string) =>
    (await askDatabase(database.url, `select node_id from ${table} where node_id not like 'node_%' order by 1`)).map(
      (row) => row.node_id,
    );
  assert.deepEqual(await left('nodes'), ['seen', 'silent', 'young']);
  assert.deepEqual(await left('node_beats'), ['seen', 'silent', 'young']);
  assert.deepEqual(await left('run_readers'), ['seen', 'silent', 'young']);
});
