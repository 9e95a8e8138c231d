import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ModelController,
  STORES,
  type Store,
  type StoreName,
  StoreUnavailable,
  scriptedModel,
  startTestServer,
  type Tx,
  withoutComments,
} from '@runwire/test-kit';

/**
 * A store that refuses every event chunk with this word permanently, and is unavailable for the first ends of such
 * runs.
 */
function refusing(word: string, away = 0): (store: Store) => Store {
  let left = away;
  return (store) => ({
    kind: store.kind,
    reads: store.reads,
    transact: async (name, job) => {
      if (name === 'takeover' && left > 0) {
        left -= 1;
        throw new StoreUnavailable('away');
      }
      return store.transact(name, (tx) => {
        const guarded: Tx = {
          all: (statement, params) => tx.all(statement, params),
          query: (build) => tx.query(build),
          run: (statement, params) => {
            const { data } = params as { data?: string };
            if (statement.name === 'insert chunk' && data?.includes(word)) throw new Error('refused by the store');
            return tx.run(statement, params);
          },
        };
        return job(guarded);
      });
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  });
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('a run whose events the store refuses fails alone; its chat continues', async () => {
    await using controller = await ModelController.start();
    await using server = await startTestServer({
      store,
      model: scriptedModel(controller.port),
      wrapStore: refusing('poison'),
    });
    const { api } = server;
    const good = await api.complete({ chatId: 'good' });
    const goodCall = await controller.nextCall();
    const bad = await api.complete({ chatId: 'bad', usageRequestId: 'bad' });
    const badCall = await controller.nextCall();
    await badCall.text('fine ');
    await goodCall.text('one ');
    await Promise.all([bad.untilText('fine '), good.untilText('one ')]);
    const runId = String(bad.headers['x-run-id']);
    // The first word is stored before the second arrives: only the second is void.
    while ((await api.get(`/v2/integrations/demo/runs/${runId}`)).body.status !== 'running');
    await badCall.text('poison');
    await goodCall.text('two');
    assert.equal(await bad.over, false, 'the reader is cut, without an end');
    await badCall.closed;
    await goodCall.end();
    await good.whole();
    assert.equal(good.answer, 'one two');
    assert.equal(good.frames.at(-1)?.event, 'end');

    const run = (await api.get(`/v2/integrations/demo/runs/${runId}`)).body;
    assert.equal(run.status, 'failed');
    assert.equal(run.error.code, 'internal_error');
    const again = await api.complete({ chatId: 'bad', usageRequestId: 'bad' });
    await again.whole();
    assert.deepEqual(
      again.frames.slice(-4).map((frame) => frame.event),
      ['resumed', null, 'messages', 'end'],
    );
    assert.equal(again.answer, 'fine ');
    assert.ok(!again.text.includes('poison'));
    const resumed = await api.events(runId, bad.frames.at(-1)?.id ?? 0);
    await resumed.whole();
    assert.ok(withoutComments(again.text).endsWith(withoutComments(resumed.text)));

    controller.answerAll('next');
    const next = await api.complete({ chatId: 'bad' });
    await next.whole();
    assert.equal(next.answer, 'next');
  });

  test('a run whose events the store refuses ends also after an outage', async () => {
    await using controller = await ModelController.start();
    await using server = await startTestServer({
      store,
      model: scriptedModel(controller.port),
      wrapStore: refusing('poison', 2),
    });
    const bad = await server.api.complete({ chatId: 'bad' });
    const call = await controller.nextCall();
    await call.text('poison');
    assert.equal(await bad.over, false, 'the reader is cut, without an end');
    const run = (await server.api.get(`/v2/integrations/demo/runs/${bad.headers['x-run-id']}`)).body;
    assert.deepEqual([run.status, run.error?.code], ['failed', 'internal_error']);
    controller.answerAll('next');
    const next = await server.api.complete({ chatId: 'bad' });
    await next.whole();
    assert.equal(next.answer, 'next');
  });
}
