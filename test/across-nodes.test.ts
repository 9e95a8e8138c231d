import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CommitProxy,
  fullTest,
  hookStore,
  type ModelCall,
  PostgresServer,
  type StreamReader,
  withoutComments,
} from '@runwire/test-kit';
import { until } from '@runwire/test-kit/shortfall.ts';
import { DEFAULT_LIMITS } from '../packages/server/src/config/limits.ts';
import { cites } from '../requirements/cite.ts';
import { Cluster, inStep } from './support/cluster.ts';
import { PgBouncer } from './support/pgbouncer.ts';
import { messagesFrame, refusal } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;

/* Needs its own process: six nodes would run beside the tests of other files. */

/** Two clusters that most tests share: one with hints, and one without any. */
const clusters = new Map<boolean, Cluster>();
const both = skip === false ? [true, false] : [];
before(async () => {
  for (const hints of both) clusters.set(hints, await Cluster.start(3, { hints }));
});
after(async () => {
  for (const cluster of clusters.values()) await cluster[Symbol.asyncDispose]();
});
const cluster = (hints: boolean) => clusters.get(hints) as Cluster;

const equalFrames = (readers: readonly StreamReader[]) => {
  const [first, ...others] = readers.map(({ text }) => withoutComments(text));
  for (const other of others) assert.equal(other, first);
};
const getStatus = (reader: StreamReader) => messagesFrame(reader).status;

for (const hints of both) {
  const how = hints ? 'with hints' : 'with every hint dropped';

  test(`${how}: a run is read live on every node, and all readers get equal bytes`, async (t) => {
    cites(t, 'contract-3-events-any-node', 'contract-3-events-live');
    const [here, there, third] = [cluster(hints).node(0), cluster(hints).node(1), cluster(hints).node(2)];
    const integration = await here.integration({ agency: 'test' });
    const body = { apiIntegrationId: integration, usageRequestId: 'u' };
    const { reader, call, runId } = await here.hold(body);
    const replay = await there.api.complete(body);
    assert.equal(replay.headers['x-run-replayed'], 'true');
    assert.equal(replay.headers['x-run-id'], runId);
    const readers = [reader, replay, await there.api.events(runId, 0, integration)];
    readers.push(await third.api.events(runId, null, integration));
    for (const token of ['one ', 'two ', 'three ']) await inStep(call, token, readers);
    const late = await third.api.events(runId, 3, integration);
    await call.toolCall('call_1', 'echo', '{"text":"again"}');
    await call.end();
    const next = await here.controller.nextCall();
    await inStep(next, 'four', [...readers, late]);
    await next.end();
    for (const one of [...readers, late]) assert.equal(await one.over, true);
    equalFrames(readers);
    assert.equal(getStatus(replay), 'completed');
    assert.ok(withoutComments(reader.text).endsWith(withoutComments(late.text)), 'from a cursor on, the same bytes');
    assert.equal(there.controller.calls.length + third.controller.calls.length, 0, 'no other node runs it');
  });

  fullTest(`${how}: plain text is the same on another node, and ends normally only if the run completed`, async () => {
    const [here, there] = [cluster(hints).node(0), cluster(hints).node(1)];
    const integration = await here.integration({ textOnly: true });
    const texts = async (usageRequestId: string) => {
      const body = { apiIntegrationId: integration, usageRequestId };
      const { reader, call, runId } = await here.hold(body);
      const replay = await there.api.complete(body);
      assert.match(String(replay.headers['content-type']), /^text\/plain/);
      await inStep(call, 'Half ', [reader, replay]);
      return { reader, replay, call, runId };
    };
    const good = await texts('good');
    await inStep(good.call, 'and half', [good.reader, good.replay]);
    await good.call.end();
    assert.deepEqual([await good.reader.over, await good.replay.over], [true, true]);
    assert.deepEqual([good.replay.text, good.reader.text], ['Half and half', 'Half and half']);
    const bad = await texts('bad');
    await there.api.post(`/v2/integrations/${integration}/runs/${bad.runId}/cancel`);
    assert.deepEqual([await bad.reader.over, await bad.replay.over], [false, false]);
    assert.equal(bad.replay.text, 'Half ');
  });

  test(`${how}: a cancel on another node ends the run at once, or after its step, and is answered when it has`, async () => {
    const [here, there] = [cluster(hints).node(0), cluster(hints).node(1)];
    const integration = await here.integration({ agency: 'test' });
    const runs = `/v2/integrations/${integration}/runs`;
    const hasty = await here.hold({ apiIntegrationId: integration, chatId: 'c' });
    await inStep(hasty.call, 'Half', [hasty.reader]);
    const { status, body } = await there.api.post(`${runs}/${hasty.runId}/cancel`);
    assert.deepEqual([status, body.status, body.cancelled, body.chatId], [200, 'cancelled', true, 'c']);
    await hasty.call.closed;
    assert.ok(body.usage.total_tokens > 0, 'what was said is charged');
    assert.equal((await there.api.get(`${runs}/${hasty.runId}`)).body.message, 'Half');

    const polite = await here.hold({ apiIntegrationId: integration });
    const answer = there.api.post(`${runs}/${polite.runId}/cancel`, { mode: 'after_step' });
    await polite.call.text('I may end this');
    // Its node learns of the cancel a little later; until then the run continues from step to step.
    here.controller.onCall = async (call) => {
      await sleep(200);
      await call.toolCall(`call_${here.controller.calls.length}`, 'echo', '{}');
      await call.end();
    };
    await polite.call.toolCall('call_0', 'echo', '{}');
    await polite.call.end();
    assert.deepEqual([(await answer).status, (await answer).body.status], [200, 'cancelled']);
    assert.equal(await polite.reader.over, true);
    here.controller.onCall = null;
    assert.equal(polite.reader.answer, 'I may end this');
    const { type, status: itemStatus } = messagesFrame(polite.reader).new_messages.at(-1);
    assert.notDeepEqual([type, itemStatus], ['message', 'incomplete'], 'the step was let finish');
  });

  test(`${how}: status, run and chat are the same on every node, and a busy chat is busy on all`, async () => {
    const [here, there] = [cluster(hints).node(0), cluster(hints).node(1)];
    const integration = await here.integration();
    const path = `/v2/integrations/${integration}`;
    const { reader, call, runId } = await here.hold({
      apiIntegrationId: integration,
      chatId: 'c',
      usageRequestId: 'u',
    });
    await inStep(call, 'Said', [reader]);
    const seen = reader.frames.at(-1)?.id;
    const statusThere = async (query: string) => (await there.api.get(`${path}/chat_status?${query}`)).body;
    await until('the stored log has come so far', async () => (await statusThere('chatId=c')).run.lastEventId === seen);
    for (const query of ['chatId=c', 'usageRequestId=u']) {
      const { status, activeRunId, run } = await statusThere(query);
      assert.deepEqual([status, activeRunId, run.status, run.lastEventId], ['running', runId, 'running', seen]);
    }
    assert.deepEqual((await there.api.get(`${path}/runs/${runId}`)).body.status, 'running');
    const busy = await there.api.delete(`${path}/chats/c`);
    assert.deepEqual([busy.status, busy.body.code, busy.body.runId], [409, 'run_active', runId]);
    const second = await refusal(await there.api.complete({ apiIntegrationId: integration, chatId: 'c' }));
    assert.deepEqual([second.status, second.body.code, second.admitted], [409, 'run_active', 'false']);
    await call.end();
    await reader.whole();
    const { body: ended } = await there.api.get(`${path}/runs/${runId}`);
    assert.deepEqual(ended, (await here.api.get(`${path}/runs/${runId}`)).body);
    const atEnd = await there.api.events(runId, ended.lastEventId, integration);
    assert.equal(atEnd.status, 204);
    // Each node has the chat's turns in memory, and sees those of the other.
    for (const [turn, node] of [there, here, there, here].entries()) {
      const next = await node.hold({ apiIntegrationId: integration, chatId: 'c', message: `${turn}?` });
      const texts = next.call.request.prompt.map((item) => ('text' in item ? item.text : ''));
      assert.deepEqual(
        texts.slice(2),
        Array.from({ length: turn }, (_, n) => [`${n}?`, `${n}.`])
          .flat()
          .concat(`${turn}?`),
      );
      await next.finish(`${turn}.`);
    }
    assert.equal((await there.api.delete(`${path}/chats/c`)).status, 204);
    const gone = await refusal(await here.api.events(runId, 0, integration));
    assert.deepEqual([gone.status, gone.body.code], [404, 'chat_not_found']);
  });

  test(`${how}: a reader ahead of the stored log waits for what it has not seen`, async (t) => {
    cites(t, 'contract-3-events-ahead', 'contract-4-ahead-of-end');
    const all = cluster(hints);
    // The text of the run reaches the store only with its end.
    const here = await all.join({ limits: { flushMs: 600_000 } });
    const there = all.node(1);
    const { reader, call, runId } = await here.hold({});
    await inStep(call, 'Seen here, ', [reader]);
    const seen = reader.frames.at(-1)?.id ?? 0;
    const ahead = await there.api.events(runId, seen);
    const beyond = await there.api.events(runId, 1_000_000);
    const alone = await all.node(2).api.events(runId, 1_000_000);
    const start = await there.api.events(runId, 0);
    // `meta` is stored with the first events after it.
    assert.equal(withoutComments(start.text), '', 'nothing is stored yet');
    assert.equal((await there.api.get(`/v2/integrations/demo/runs/${runId}`)).body.lastEventId, 1);
    await inStep(call, 'and there', [reader]);
    await call.end();
    for (const one of [reader, ahead, start]) assert.equal(await one.over, true);
    equalFrames([reader, start]);
    assert.ok(withoutComments(reader.text).endsWith(withoutComments(ahead.text)));
    assert.equal(ahead.frames[0]?.id, seen + 1);
    // Its cursor is after every event of the run.
    assert.deepEqual(await beyond.whole(), reader.frames.slice(-2), 'messages and end');
    await alone.whole();
    assert.deepEqual(alone.frames, beyond.frames, 'also if no other reader follows the run on this node');
    await all.leave(here);
  });

  test(`${how}: a run that goes on under another node is followed over the change`, async () => {
    const all = cluster(hints);
    const doomed = await all.join({ env: { DATABASE_URL: all.url, RUNWIRE_DRAIN_SECONDS: '0' } });
    const there = all.node(1);
    const { reader, call, runId } = await doomed.hold({});
    const far = await there.api.events(runId, 0);
    await inStep(call, 'Void ', [reader, far]);
    const anywhere = Promise.withResolvers<ModelCall>();
    for (const { controller } of all.nodes) controller.onCall = anywhere.resolve;
    await all.leave(doomed);
    assert.equal(await reader.over, false);
    // The reader's node may take the run over, too.
    const again = await anywhere.promise;
    for (const { controller } of all.nodes) controller.onCall = null;
    await inStep(again, 'Whole', [far]);
    await again.end();
    assert.equal(await far.over, true);
    assert.equal(far.answer, 'Whole');
    assert.equal(far.frames.filter(({ event }) => event === 'resumed').length, 1);
  });
}

test('a run that ends between the last query and the attach is read whole', { skip }, async () => {
  for (const hints of both) {
    const here = cluster(hints).node(0);
    const looked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const wrapStore = hookStore({
      read: async (statement, read) => {
        const rows = await read();
        if (statement === 'chunk after' && rows.length === 0) {
          looked.resolve();
          await goOn.promise;
        }
        return rows;
      },
    });
    const there = await cluster(hints).join({ wrapStore });
    const { reader, call, runId } = await here.hold({});
    const far = await there.api.events(runId, 0);
    await looked.promise;
    await call.text('Over before it looked again');
    await call.end();
    await reader.whole();
    goOn.resolve();
    assert.equal(await far.over, true);
    equalFrames([reader, far]);
    await cluster(hints).leave(there);
  }
});

fullTest('a slow reader on another node delays no other reader and gets everything', { skip }, async () => {
  const [here, there] = [cluster(true).node(0), cluster(true).node(1)];
  const { reader, call, runId } = await here.hold({});
  const slow = await there.api.events(runId, 0);
  const quick = await there.api.events(runId, 0);
  await slow.untilText('event: meta');
  slow.pause();
  // More than the kernel buffers for the reader.
  const { fullStreams } = there.server.server.probes;
  for (let i = 0; fullStreams() === 0; i += 1) {
    await call.text('x'.repeat(512 * 1024));
    await inStep(call, ` ${i}.`, [reader, quick]);
  }
  await call.end();
  assert.deepEqual([await reader.over, await quick.over], [true, true]);
  slow.resume();
  assert.equal(await slow.over, true);
  equalFrames([reader, quick, slow]);
});

test('every node serves a compacted run from its start, not from a cursor in it', { skip }, async () => {
  const here = cluster(true).node(0);
  const { runId } = await here.answer({});
  const there = await cluster(true).join({ limits: { logMs: 0 } });
  await there.server.server.probes.sweepEvents();
  const within = await refusal(await here.api.events(runId, 3));
  assert.deepEqual([within.status, within.body.code], [410, 'cursor_too_old']);
  const readers = [await here.api.events(runId, 0), await there.api.events(runId, 0)];
  for (const reader of readers) assert.equal(await reader.over, true);
  equalFrames(readers);
  assert.equal(readers[0]?.answer, 'Hi');
  await cluster(true).leave(there);
});

test('comments keep the streams of silent runs on other nodes alive', { skip }, async () => {
  const there = await cluster(true).join({ limits: { heartbeatMs: 200 } });
  const { reader, call, runId } = await cluster(true).node(0).hold({});
  const far = await there.api.events(runId, 0);
  await far.until(({ text }) => text.split('\n').filter((line) => line.startsWith(':')).length >= 4);
  await call.end();
  assert.deepEqual([await far.over, await reader.over], [true, true]);
  await cluster(true).leave(there);
});

fullTest('a reader on another node survives an outage and gets the rest after it', { skip }, async () => {
  await using postgres = await PostgresServer.start();
  await using all = await Cluster.start(2, { databaseUrl: await postgres.database(), limits: { heartbeatMs: 500 } });
  const { reader, call, runId } = await all.node(0).hold({});
  const far = await all.node(1).api.events(runId, 0);
  await inStep(call, 'Before, ', [reader, far]);
  await postgres.stop();
  await inStep(call, 'during ', [reader]);
  const soFar = far.text.length;
  await far.until(
    ({ text }) =>
      text
        .slice(soFar)
        .split('\n')
        .filter((line) => line.startsWith(':')).length >= 3,
  );
  await postgres.startAgain();
  await inStep(call, 'and after', [reader, far]);
  await call.end();
  assert.deepEqual([await reader.over, await far.over], [true, true]);
  equalFrames([reader, far]);
});

test('a slow cancel on another node is answered 202 and takes effect later', { skip }, async () => {
  const there = await cluster(true).join({ limits: { cancelPatienceMs: 300 } });
  const { reader, call, runId } = await cluster(true).node(0).hold({ chatId: 'c' });
  const cancel = () => there.api.post(`/v2/integrations/demo/runs/${runId}/cancel`, { mode: 'after_step' });
  const { status, body } = await cancel();
  assert.equal(status, 202);
  assert.deepEqual(body, { runId, chatId: 'c', status: 'cancelling', cancelled: false, usage: null });
  await call.end();
  await reader.whole();
  assert.deepEqual([(await cancel()).status, (await cancel()).body.status], [200, 'completed']);
  await cluster(true).leave(there);
});

test('a revoked key and a changed or deleted integration are seen on every node', { skip }, async (t) => {
  cites(t, 'contract-2-revocation-nodes');
  assert.ok(2 * DEFAULT_LIMITS.accountsVersionMs < 5000, 'read twice within 5 s');
  const [here, there] = [cluster(true).node(0), cluster(true).node(1)];
  const integration = await here.integration();
  const made = (await here.api.post('/v2/api_keys', { name: 'short-lived' })).body;
  const other = there.api.as(made.apiKey);
  assert.equal((await other.get(`/v2/integrations/${integration}`)).status, 200);
  assert.equal((await here.api.delete(`/v2/api_keys/${made.keyId}`)).status, 204);
  const revokedAt = performance.now();
  await until('the key is refused', async () => (await other.get('/v2/me')).status === 401);
  assert.ok(performance.now() - revokedAt < 15_000, '5 s on an idle machine');

  await here.api.patch(`/v2/integrations/${integration}`, { textOnly: true });
  const text = await there.api.complete({ apiIntegrationId: integration });
  assert.match(String(text.headers['content-type']), /^text\/plain/);
  await (await there.controller.nextCall()).end();
  await text.over;
  await here.api.delete(`/v2/integrations/${integration}`);
  await until('it is gone', async () => (await there.api.get(`/v2/integrations/${integration}`)).status === 404);
});

test('a revoked key ends its streams on every node; the run continues', { skip }, async (t) => {
  cites(t, 'contract-2-revoked-streams');
  const [here, there] = [cluster(true).node(0), cluster(true).node(1)];
  const integration = await here.integration();
  const made = (await here.api.post('/v2/api_keys', {})).body;
  const { reader, call, runId } = await here.hold({ apiIntegrationId: integration });
  const streams = [here, there].map((node) => node.api.as(made.apiKey).events(runId, null, integration));
  const revoked = await Promise.all(streams);
  const others = await there.api.events(runId, null, integration);
  await inStep(call, 'one ', [reader, others, ...revoked]);
  assert.equal((await here.api.delete(`/v2/api_keys/${made.keyId}`)).status, 204);
  const revokedAt = performance.now();
  for (const stream of revoked) {
    assert.equal(await stream.over, false, 'the connection is cut: the answer did not end');
    assert.ok(!stream.text.includes('event: end'));
  }
  assert.ok(performance.now() - revokedAt < 15_000, '5 s on an idle machine');
  await inStep(call, 'two', [reader, others]);
  await call.end();
  for (const stream of [reader, others]) assert.equal(await stream.over, true);
  assert.equal(getStatus(reader), 'completed');
});

test('a node that is cut off from its database ends the streams of a revoked key', { skip }, async (t) => {
  cites(t, 'contract-2-revoked-streams');
  const { port } = new URL(cluster(true).url);
  await using proxy = await CommitProxy.start(Number(port));
  const DATABASE_URL = cluster(true).url.replace(`:${port}/`, `:${proxy.port}/`);
  const cutOff = await cluster(true).join({ env: { DATABASE_URL } });
  const here = cluster(true).node(0);
  const integration = await here.integration();
  const made = (await here.api.post('/v2/api_keys', {})).body;
  const { reader, call, runId } = await cutOff.hold({ apiIntegrationId: integration });
  const stream = await cutOff.api.as(made.apiKey).events(runId, null, integration);
  await inStep(call, 'one ', [reader, stream]);
  // The second key is used for the first time: the node writes that, and hears nothing more of its database.
  const second = (await here.api.post('/v2/api_keys', {})).body;
  const hung = proxy.hangAfter('touch key');
  cutOff.api
    .as(second.apiKey)
    .get('/v2/me')
    .catch(() => {});
  await hung;
  const revokedAt = performance.now();
  for (const { keyId } of [second, made]) assert.equal((await here.api.delete(`/v2/api_keys/${keyId}`)).status, 204);
  assert.equal(await stream.over, false, 'the connection is cut');
  assert.ok(performance.now() - revokedAt < 15_000, '5 s on an idle machine');
  await inStep(call, 'two', [reader]);
  proxy.flow();
  await call.end();
  await cluster(true).leave(cutOff);
});

test('a run with a reader on another node is not cancelled as unread', { skip }, async (t) => {
  cites(t, 'contract-4-disconnect-any-node', 'contract-4-disconnect-cancel');
  const disconnectMs = 2000;
  await using all = await Cluster.start(2, { limits: { disconnectMs } });
  const [here, there] = [all.node(0), all.node(1)];
  const rows = (runId: string) => all.query('select node_id from run_readers where run_id = $1', [runId]);
  const integration = await here.integration({ onDisconnect: 'cancel' });
  const plain = await here.hold({});
  const held = await here.hold({ apiIntegrationId: integration });
  const { runId } = held;
  const far = await there.api.events(runId, 0, integration);
  const second = await there.api.events(runId, 0, integration);
  const other = await there.api.events(plain.runId, 0);
  await until('its node is told', async () => (await rows(runId)).length === 1);
  held.reader.cut();
  await sleep(3 * disconnectMs);
  assert.equal(held.call.isClosed, false);
  await inStep(held.call, 'Still here', [far, second]);
  assert.equal((await rows(plain.runId)).length, 0, 'where the integration does not say so nothing is written');
  far.cut();
  await until('one is left', () => there.server.server.probes.openStreams() === 2);
  assert.equal((await rows(runId)).length, 1);
  second.cut();
  await held.call.closed;
  await until('it is cancelled', async () => {
    const { body } = await there.api.get(`/v2/integrations/${integration}/runs/${runId}`);
    return body.status === 'cancelled';
  });
  assert.equal((await rows(runId)).length, 0);
  await plain.call.end();
  await other.whole();
});

test('readers of a stopped or dead node do not count', { skip }, async (t) => {
  cites(t, 'contract-4-disconnect-any-node');
  await using all = await Cluster.start(1, { limits: { disconnectMs: 1000 } });
  const here = all.node(0);
  const integration = await here.integration({ onDisconnect: 'cancel' });
  const there = await all.join({ env: { DATABASE_URL: all.url, RUNWIRE_DRAIN_SECONDS: '0' } });
  const first = await here.hold({ apiIntegrationId: integration });
  const far = await there.api.events(first.runId, 0, integration);
  const rows = async () => (await all.query('select 1 from run_readers')).length;
  await until('its node is told', async () => (await rows()) === 1);
  await all.leave(there);
  assert.equal(await far.over, false);
  assert.equal(await rows(), 0);
  await all.query(
    `insert into nodes (node_id, boot, dead, version, started_at, generation) values ('node_dead', 'b', 1, '0', 0, 1)`,
  );
  await all.query(`insert into run_readers (run_id, node_id) values ($1, 'node_dead')`, [first.runId]);
  first.reader.cut();
  await first.call.closed;
  await until('it is cancelled', async () => {
    const { body } = await here.api.get(`/v2/integrations/${integration}/runs/${first.runId}`);
    return body.status === 'cancelled';
  });
  // The next start sweeps the dead node's leftovers.
  await all.join();
  assert.equal(await rows(), 0);
});

const noBouncer = (await missingService('pgbouncer')) ?? false;
fullTest('runs are followed and cancelled by polling behind PgBouncer', { skip: skip || noBouncer }, async () => {
  await using bouncer = await PgBouncer.start(Number(new URL(cluster(true).url).port));
  const through = (url: string) => {
    const behind = new URL(url);
    behind.port = String(bouncer.port);
    behind.searchParams.set('pgbouncer', 'true');
    return behind.href;
  };
  await using all = await Cluster.start(2, { through });
  const [here, there] = [all.node(0), all.node(1)];
  const { reader, call, runId } = await here.hold({});
  const far = await there.api.events(runId, 0);
  for (const token of ['one ', 'two']) await inStep(call, token, [reader, far]);
  const { status, body } = await there.api.post(`/v2/integrations/demo/runs/${runId}/cancel`);
  assert.deepEqual([status, body.status], [200, 'cancelled']);
  assert.deepEqual([await reader.over, await far.over], [true, true]);
  equalFrames([reader, far]);
});
