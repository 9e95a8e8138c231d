import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  freshDatabase,
  ModelController,
  type Store,
  scriptedModel,
  startTestServer,
  type Tx,
  temporaryFolder,
} from '@runwire/server/testing';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;

type Rows = <R>(statement: string, params: unknown, rows: R[], inside: boolean) => Promise<R[]>;

/** A store whose reads go through `rows`, inside transactions and outside. */
function reading(rows: Rows): (store: Store) => Store {
  return (store) => ({
    kind: store.kind,
    reads: {
      all: async (statement, params) => rows(statement.name, params, await store.reads.all(statement, params), false),
      query: (build) => store.reads.query(build),
    },
    transact: (name, job) =>
      store.transact(name, (tx) => {
        const read: Tx = {
          all: async (statement, params) => rows(statement.name, params, await tx.all(statement, params), true),
          query: (build) => tx.query(build),
          run: (statement, params) => tx.run(statement, params),
        };
        return job(read);
      }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  });
}

/** Runs whose server stops before they have ended, in a chat each. */
async function leaveBehind(controller: ModelController, chats: readonly string[], options: object): Promise<string[]> {
  const runIds: string[] = [];
  await using server = await startTestServer({ ...options, model: scriptedModel(controller.port) });
  for (const chatId of chats) {
    const reader = await server.api.complete({ chatId, usageRequestId: chatId });
    runIds.push(String(reader.headers['x-run-id']));
    const call = await controller.nextCall();
    await call.text('Begun');
    await reader.untilText('Begun');
  }
  return runIds;
}

/** Both wait here for each other, once, and not for longer than the database lets a transaction stand still. */
class Meeting {
  #come = 0;
  readonly #both = Promise.withResolvers<void>();

  async wait(): Promise<void> {
    this.#come += 1;
    if (this.#come === 2) this.#both.resolve();
    await Promise.race([this.#both.promise, sleep(1000)]);
  }
}

/** Two servers that look for orphans at the same moment, and hold the first in their hands at the same moment. */
async function startTwo(url: string, model: ReturnType<typeof scriptedModel>, limits: { maxAttempts?: number }) {
  const [look, hold] = [new Meeting(), new Meeting()];
  const started = await Promise.all(
    [1, 2].map(() => {
      const seen = new Set<string>();
      const wrapStore = reading(async (statement, _, rows, inside) => {
        if (statement === (inside ? 'unfinished run' : 'orphaned runs') && !seen.has(statement)) {
          seen.add(statement);
          await (inside ? hold : look).wait();
        }
        return rows;
      });
      return startTestServer({ env: { DATABASE_URL: url }, model, limits, wrapStore });
    }),
  );
  return started;
}

for (const count of [1, 7]) {
  test(`two servers that start at once on PostgreSQL take each of ${count} runs of a stopped one once`, {
    skip,
  }, async () => {
    await using database = await freshDatabase();
    await using controller = await ModelController.start();
    const chats = Array.from({ length: count }, (_, index) => `c${index}`);
    const runIds = await leaveBehind(controller, chats, { env: { DATABASE_URL: database.url } });
    const servers = await startTwo(database.url, scriptedModel(controller.port), {});
    await using one = servers[0] as (typeof servers)[number];
    await using other = servers[1] as (typeof servers)[number];
    const resumed = servers.map(({ server }) => server.resumedRuns);
    assert.equal((resumed[0] ?? 0) + (resumed[1] ?? 0), count, `${resumed}`);
    assert.deepEqual([one.server.endedRuns, other.server.endedRuns], [0, 0]);
    for (const _ of runIds) {
      const call = await controller.nextCall();
      await call.text('Gone on');
      await call.end();
    }
    for (const runId of runIds) {
      const run = async () => (await other.api.get(`/v2/integrations/demo/runs/${runId}`)).body;
      // A server that does not run it has nothing but what is stored.
      while ((await run()).completedAt === null) await sleep(20);
      const { status, attempt } = await run();
      assert.deepEqual([status, attempt], ['completed', 2]);
      const events = await one.api.events(runId, 0);
      await events.whole();
      assert.equal(messagesFrame(events).status, 'completed');
    }
    assert.equal(controller.calls.length, 2 * count);
  });

  test(`two servers that start at once on PostgreSQL end each of ${count} runs that cannot go on once`, {
    skip,
  }, async () => {
    await using database = await freshDatabase();
    await using controller = await ModelController.start();
    const chats = Array.from({ length: count }, (_, index) => `c${index}`);
    await leaveBehind(controller, chats, { env: { DATABASE_URL: database.url } });
    const servers = await startTwo(database.url, scriptedModel(controller.port), { maxAttempts: 0 });
    await using one = servers[0] as (typeof servers)[number];
    await using other = servers[1] as (typeof servers)[number];
    assert.equal(one.server.endedRuns + other.server.endedRuns, count);
    assert.deepEqual([one.server.resumedRuns, other.server.resumedRuns], [0, 0]);
    controller.answerAll('Next');
    for (const chatId of chats) {
      const reader = await other.api.complete({ chatId });
      await reader.whole();
      assert.equal(reader.answer, 'Next');
      const { body } = await one.api.get(`/v2/integrations/demo/chats/${chatId}/messages`);
      assert.equal(body.items.length, 4, 'one answer of each run');
    }
  });
}

test('a run that cannot be read ends, one without its rows is passed over, and the server starts with the others', async () => {
  await using controller = await ModelController.start();
  const dataDir = temporaryFolder();
  const [unreadable, whole, torn] = await leaveBehind(controller, ['unreadable', 'whole', 'torn'], { dataDir });
  const wrapStore = reading(async (statement, params, rows) => {
    const { runId } = params as { runId?: string };
    if (statement === 'all chunks' && runId === unreadable) return rows.map((row) => ({ ...row, data: '{"not' }));
    return statement === 'unfinished run' && runId === torn ? [] : rows;
  });
  const rig = await ScriptedServer.start({ dataDir, wrapStore });
  assert.deepEqual([rig.server.server.resumedRuns, rig.server.server.endedRuns], [1, 1]);
  await rig.server[Symbol.asyncDispose]();
  await rig.controller[Symbol.asyncDispose]();
  await using again = await startTestServer({ dataDir, model: scriptedModel(controller.port) });
  assert.equal(again.server.resumedRuns, 2, 'what was only passed over is found again');
  const run = async (id = '') => (await again.api.get(`/v2/integrations/demo/runs/${id}`)).body;
  const { status, error } = await run(unreadable);
  assert.deepEqual([status, error.code], ['failed', 'run_interrupted']);
  assert.match(error.message, /what is stored of it cannot be read/);
  controller.answerAll('Done');
  for (const id of [whole, torn]) {
    const events = await again.api.events(id ?? '', 0);
    await events.whole();
    assert.equal((await run(id)).status, 'completed');
  }
  const next = await again.api.complete({ chatId: 'unreadable' });
  await next.whole();
  assert.equal(next.answer, 'Done');
  await again[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true });
});
