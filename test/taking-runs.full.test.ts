import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  askDatabase,
  CommitUnknown,
  hookStore,
  ModelController,
  migratedDatabase,
  SHORT_LEASE,
  type Store,
  StoreUnavailable,
  scriptedModel,
  startTestServer,
} from '@runwire/test-kit';
import { pino } from 'pino';
import { eventually } from './support/eventually.ts';
import { leaveBehind, reading } from './support/left-behind.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;

/** A database, a model that the test controls, and the options of servers on both. */
async function setUp() {
  const database = await migratedDatabase();
  const controller = await ModelController.start();
  const { url } = database;
  return {
    url,
    controller,
    options: { model: scriptedModel(controller.port), limits: SHORT_LEASE, env: { DATABASE_URL: url } },
    async [Symbol.asyncDispose]() {
      await controller[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

test('a run taken at a start during which the node was fenced continues', { skip }, async () => {
  await using it = await setUp();
  const [runId] = await leaveBehind(it.controller, ['left'], { env: it.options.env });
  let isFirst = true;
  const wrapStore = (store: Store) =>
    hookStore({
      transact: async (name, transact) => {
        if (name !== 'lease' || !isFirst) return transact();
        isFirst = false;
        await askDatabase(it.url, 'update nodes set dead = 1 where dead = 0');
        await eventually('it is a new node', () => store.transact('sweep', async () => true).catch(() => null));
        return transact();
      },
    })(store);
  await using server = await startTestServer({ ...it.options, wrapStore });
  assert.equal(server.server.resumedRuns, 1);
  const call = await it.controller.nextCall();
  assert.deepEqual([call.request.runId, call.request.attempt], [runId, 2]);
  await call.end();
});

test('a stop does not wait for a database that never answers a takeover', { skip }, async () => {
  await using it = await setUp();
  const taking = Promise.withResolvers<void>();
  const wrapStore = hookStore({
    transact: async (name, transact) => {
      if (name !== 'takeover') return transact();
      taking.resolve();
      throw new CommitUnknown(new Promise(() => {}));
    },
  });
  const server = await startTestServer({ ...it.options, wrapStore });
  await leaveBehind(it.controller, ['left'], { env: it.options.env });
  await taking.promise;
  let isClosed = false;
  const closing = server[Symbol.asyncDispose]().then(() => {
    isClosed = true;
  });
  await eventually('it is closed', async () => isClosed);
  await closing;
});

test('a run that cannot be taken in time delays no other run and no start', { skip }, async () => {
  await using it = await setUp();
  const [large, ...others] = await leaveBehind(it.controller, ['large', 'b', 'c'], { env: it.options.env });
  let isTooLarge = true;
  // Everything in the same transaction fails with it.
  const wrapStore = reading(async (statement, params, rows) => {
    const isLarge = statement === 'unfinished run' && (params as { runId: string }).runId === large;
    if (isLarge && isTooLarge) throw new StoreUnavailable('That took too long.');
    return rows;
  });
  await using server = await startTestServer({ ...it.options, wrapStore });
  assert.equal(server.server.resumedRuns, 2);
  const calls = [await it.controller.nextCall(), await it.controller.nextCall()];
  assert.deepEqual(calls.map(({ request }) => request.runId).toSorted(), others.toSorted());
  isTooLarge = false;
  const last = await it.controller.nextCall();
  assert.equal(last.request.runId, large, 'it is tried again');
  for (const call of [...calls, last]) await call.end();
});

test('a run of another version is left to living nodes; the last one ends it', { skip }, async () => {
  await using it = await setUp();
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  let looks = 0;
  const wrapStore = reading(async (statement, _, rows) => {
    if (statement === 'orphaned runs' && rows.length > 0) looks += 1;
    return rows;
  });
  await using stays = await startTestServer({ ...it.options, logger, wrapStore });
  const peer = await startTestServer(it.options);
  const first = await startTestServer(it.options);
  const reader = await first.api.complete({});
  const runId = String(reader.headers['x-run-id']);
  await it.controller.nextCall();
  await askDatabase(it.url, 'update runs set journal_format = 99');
  await first[Symbol.asyncDispose]();
  await eventually('it was looked for often', async () => looks >= 8);
  const run = async () => (await stays.api.get(`/v2/integrations/demo/runs/${runId}`)).body;
  assert.deepEqual([(await run()).completedAt, (await run()).attempt], [null, 1]);
  assert.equal(lines.filter((line) => line.includes('another version of the server started it')).length, 1);
  await peer[Symbol.asyncDispose]();
  await eventually('it has ended', async () => (await run()).completedAt !== null);
  assert.equal((await run()).error.code, 'run_interrupted');
});
