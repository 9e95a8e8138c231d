import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshDatabase, ModelController, scriptedModel, startTestServer } from '@runwire/test-kit';
import { leaveBehind, reading } from './support/left-behind.ts';
import { messagesFrame } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;

/** Both starts wait here for each other, once, but not longer than the database allows an idle transaction. */
class Meeting {
  #come = 0;
  readonly #both = Promise.withResolvers<void>();

  async wait(): Promise<void> {
    this.#come += 1;
    if (this.#come === 2) this.#both.resolve();
    await Promise.race([this.#both.promise, sleep(1000)]);
  }
}

/** Two servers look for orphans concurrently, and both find the first one before either takes it. */
async function startTwo(url: string, model: ReturnType<typeof scriptedModel>, limits: { maxAttempts?: number }) {
  const [look, hold] = [new Meeting(), new Meeting()];
  const started = await Promise.all(
    [1, 2].map(() => {
      const meetings = new Map([
        ['orphaned runs', look],
        ['unfinished run', hold],
      ]);
      const wrapStore = reading(async (statement, _, rows) => {
        const meeting = meetings.get(statement);
        meetings.delete(statement);
        await meeting?.wait();
        return rows;
      });
      return startTestServer({ env: { DATABASE_URL: url }, model, limits, wrapStore });
    }),
  );
  return started;
}

for (const count of [1, 7]) {
  test(`two concurrent starts on PostgreSQL take each of ${count} runs of a stopped server once`, {
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
      // A server that does not run it can only use the stored events.
      while ((await run()).completedAt === null) await sleep(20);
      const { status, attempt } = await run();
      assert.deepEqual([status, attempt], ['completed', 2]);
      const events = await one.api.events(runId, 0);
      await events.whole();
      assert.equal(messagesFrame(events).status, 'completed');
    }
    assert.equal(controller.calls.length, 2 * count);
  });

  test(`two concurrent starts on PostgreSQL end each of ${count} runs that cannot be resumed once`, {
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
