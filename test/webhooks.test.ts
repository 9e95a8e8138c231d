import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { STORES, type StoreName } from '@runwire/test-kit';
import { until } from '@runwire/test-kit/shortfall.ts';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { ISO_TIME, ScriptedServer, shownUsage } from './support/scripted-server.ts';
import { upload } from './support/uploads.ts';
import { matchingSignatures, WebhookReceiver } from './support/webhook-receiver.ts';

const HOUR_MS = 3_600_000;
type Columns = Readonly<Record<string, string>>;
const DELIVERY = ['delivery_id', 'integration_id', 'endpoint_id', 'event_id', 'type', 'status', 'attempts'];
DELIVERY.push('next_attempt_at', 'created_at', 'settled_at');
const EVENT = ['event_id', 'integration_id', 'type', 'run_id', 'consumer_id', 'path', 'body_json', 'created_at'];

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  let receiver: WebhookReceiver;
  /** Added to the clock of webhooks. */
  let shiftMs = 0;
  before(async () => {
    receiver = await WebhookReceiver.start();
  });
  const rig = ScriptedServer.shared(() => ({
    store,
    clock: () => Date.now() + shiftMs,
    env: { RUNWIRE_WEBHOOK_ALLOW: receiver.allow },
  }));
  after(() => receiver[Symbol.asyncDispose]());
  let integration = '';
  let below = '';
  beforeEach(async () => {
    integration = await rig.integration();
    below = `/v2/integrations/${integration}/webhooks`;
  });

  const add = async (fields: object = {}) => {
    const answer = await rig.api.post(below, { url: receiver.url(integration), ...fields });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };
  const deliveries = async (endpointId: string, query = '') =>
    (await rig.api.get(`${below}/${endpointId}/deliveries?${query}`)).body.items;
  /** Stores 3125 copies of the row of `id`, with these expressions as columns. */
  const copy = async (table: string, [key, ...columns]: readonly string[], id: string, changed: Columns = {}) => {
    const digits = '(select 0 as n union select 1 union select 2 union select 3 union select 4)';
    await askStore(
      rig.server.dataDir,
      `insert into ${table} (${key}, ${columns.join(', ')})
      select ${key} || a.n || b.n || c.n || d.n || e.n, ${columns.map((name) => changed[name] ?? name).join(', ')}
      from ${table}, ${digits} a, ${digits} b, ${digits} c, ${digits} d, ${digits} e where ${key} = '${id}'`,
    );
  };
  const multiply = (deliveryId: string, changed?: Columns) => copy('webhook_deliveries', DELIVERY, deliveryId, changed);
  const run = async (body: object = {}) => rig.answer({ apiIntegrationId: integration, message: 'Hello', ...body });

  test('posts the end of a run, signed, with its usage and without texts', async (t) => {
    cites(
      t,
      'contract-3-webhooks',
      'contract-21-create',
      'contract-21-run-ends',
      'contract-21-run-data',
      'contract-21-signature',
      'contract-21-deliveries',
      'contract-21-delivery',
      'contract-1-webhook-allow',
      'contract-21-all-events',
    );
    const { secret, ...endpoint } = await add();
    assert.deepEqual(Object.keys(endpoint), [
      ...['endpointId', 'url', 'events', 'description', 'active', 'disabledReason', 'failingSince'],
      ...['createdAt', 'updatedAt'],
    ]);
    const { runId } = await run({ chatId: 'c', message: 'a-secret-question' });
    const [post] = await receiver.waitFor(integration, 1);
    assert.ok(post !== undefined);
    assert.equal(matchingSignatures(post, secret), 1);
    assert.equal(post.headers['content-type'], 'application/json');
    const body = JSON.parse(post.body);
    assert.equal(body.type, 'run.completed');
    assert.match(body.timestamp, ISO_TIME);
    const { data } = body;
    assert.deepEqual(
      [data.apiIntegrationId, data.runId, data.chatId, data.status, data.usage, data.charged, data.byModel.length],
      [integration, runId, 'c', 'completed', shownUsage(), null, 1],
    );
    assert.ok(!('message' in data) && !('output' in data) && !post.body.includes('a-secret-question'));
    await until(
      'the recorded delivery',
      async () => (await deliveries(endpoint.endpointId))[0]?.status === 'delivered',
    );
    const [delivery] = await deliveries(endpoint.endpointId);
    assert.deepEqual(
      [delivery.eventId, delivery.type, delivery.runId, delivery.attempts, delivery.lastStatus, delivery.lastError],
      [post.id, 'run.completed', runId, 1, 204, null],
    );
    const one = (await rig.api.get(`${below}/${endpoint.endpointId}/deliveries/${delivery.deliveryId}`)).body;
    assert.deepEqual([one.body, one.answer], [post.body, '']);
  });

  test('attempts again by the schedule, with the same id and body', async (t) => {
    cites(t, 'contract-21-attempts', 'contract-21-same-id');
    receiver.answers(integration, (_, earlier) => (earlier < 2 ? { status: 500, text: 'Out of order.' } : {}));
    const { endpointId } = await add({ events: ['run.completed'] });
    await run();
    await receiver.waitFor(integration, 1);
    await until('the first failure', async () => (await deliveries(endpointId))[0]?.attempts === 1);
    const [pending] = await deliveries(endpointId, 'status=pending');
    assert.deepEqual([pending.lastStatus, pending.lastError], [500, 'The receiver answered 500.']);
    assert.ok((await rig.api.get(`${below}/${endpointId}`)).body.failingSince !== null);
    shiftMs += 10_000;
    await receiver.waitFor(integration, 2);
    await until('the second failure', async () => (await deliveries(endpointId))[0]?.attempts === 2);
    shiftMs += HOUR_MS;
    const posts = await receiver.waitFor(integration, 3);
    await until('the success', async () => (await deliveries(endpointId))[0]?.status === 'delivered');
    assert.equal(new Set(posts.map(({ id, body }) => id + body)).size, 1);
    assert.equal((await rig.api.get(`${below}/${endpointId}`)).body.failingSince, null);
  });

  test('a late 410 of the earlier address changes nothing', async (t) => {
    cites(t, 'contract-21-gone');
    const { promise: moved, resolve: move } = Promise.withResolvers<void>();
    receiver.answers(integration, async () => {
      await moved;
      return { status: 410 };
    });
    const { endpointId } = await add();
    await run();
    await receiver.waitFor(integration, 1);
    await rig.api.patch(`${below}/${endpointId}`, { url: receiver.url('elsewhere') });
    move();
    await until('the answer', async () => (await deliveries(endpointId))[0]?.status === 'failed');
    const { body } = await rig.api.get(`${below}/${endpointId}`);
    assert.deepEqual([body.active, body.disabledReason, body.failingSince], [true, null, null]);
  });

  test('410 disables an endpoint, and its events are skipped until it is active', async (t) => {
    cites(
      t,
      'contract-21-gone',
      'contract-21-skipped',
      'contract-21-disabled',
      'contract-21-update',
      'contract-21-replay',
    );
    receiver.answers(integration, { status: 410 });
    const { endpointId } = await add();
    await run();
    await until('the disablement', async () => !(await rig.api.get(`${below}/${endpointId}`)).body.active);
    assert.equal((await rig.api.get(`${below}/${endpointId}`)).body.disabledReason, 'gone');
    await run();
    assert.deepEqual(
      (await deliveries(endpointId)).map(({ status }: { status: string }) => status),
      ['skipped', 'failed'],
    );
    receiver.answers(integration, {});
    const resumed = (await rig.api.patch(`${below}/${endpointId}`, { active: true })).body;
    assert.deepEqual([resumed.active, resumed.disabledReason, resumed.failingSince], [true, null, null]);
    const period = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
    const replay = await rig.api.post(`${below}/${endpointId}/replay`, period);
    assert.deepEqual([replay.status, replay.body], [202, { deliveries: 2 }]);
    const posts = await receiver.waitFor(integration, 3);
    assert.equal(new Set(posts.map(({ id }) => id)).size, 2);
  });

  test('72 hours of failures alone disable an endpoint', async (t) => {
    cites(t, 'contract-21-failing');
    receiver.answers(integration, { status: 500 });
    const { endpointId } = await add();
    const endpoint = async () => (await rig.api.get(`${below}/${endpointId}`)).body;
    await run();
    await until('the first failure', async () => (await deliveries(endpointId))[0]?.attempts === 1);
    shiftMs += 71 * HOUR_MS;
    await until('the second failure', async () => (await deliveries(endpointId))[0]?.attempts === 2);
    assert.equal((await endpoint()).active, true);
    shiftMs += HOUR_MS;
    await until('the disablement', async () => !(await endpoint()).active);
    const { disabledReason, failingSince } = await endpoint();
    assert.equal(disabledReason, 'failing');
    assert.match(failingSince, ISO_TIME);
    const [{ status, attempts, nextAttemptAt }] = await deliveries(endpointId);
    assert.deepEqual([status, attempts, nextAttemptAt], ['skipped', 3, null]);
    assert.match((await rig.api.get('/metrics')).body, /^runwire_webhooks_disabled_total [1-9]/m);
  });

  test('a later `Retry-After` counts, up to 24 hours', async (t) => {
    cites(t, 'contract-21-retry-after');
    receiver.answers(integration, (_, earlier) => ({
      status: 429,
      headers: { 'retry-after': ['1', '7200', '999999'][earlier] ?? '0' },
    }));
    const { endpointId } = await add();
    await run();
    const waitMs = async (attempts: number) => {
      await until('the failure', async () => (await deliveries(endpointId))[0]?.attempts === attempts);
      const [{ nextAttemptAt }] = await deliveries(endpointId);
      return Math.round((Date.parse(nextAttemptAt) - Date.now() - shiftMs) / 60_000);
    };
    assert.equal(await waitMs(1), 0);
    shiftMs += 60_000;
    assert.equal(await waitMs(2), 120);
    shiftMs += 3 * HOUR_MS;
    assert.equal(await waitMs(3), 24 * 60);
  });

  test('no endpoint is made while a node of an earlier version is alive', async (t) => {
    cites(t, 'contract-21-earlier-nodes');
    const ask = (statement: string) => askStore(rig.server.dataDir, statement);
    // PostgreSQL refuses such a node since this one has started.
    if (store === 'postgres') await ask('alter table nodes drop constraint nodes_generation_roles');
    await ask(`insert into nodes (node_id, boot, dead, version, started_at, generation)
      values ('old', 'b', 0, '0.1.0', ${Date.now()}, 2)`);
    const refused = await rig.api.post(below, { url: null });
    await ask(`delete from nodes where node_id = 'old'`);
    assert.deepEqual([refused.status, refused.body.code], [503, 'unavailable']);
    await add({ url: null });
  });

  test('a metric shows how long a due delivery waits', async () => {
    const posts = Promise.withResolvers<object>();
    receiver.answers(integration, () => posts.promise);
    const { endpointId } = await add();
    const waits = async () =>
      Number(/^runwire_webhook_oldest_due_seconds (.+)$/m.exec((await rig.api.get('/metrics')).body)?.[1]);
    // An endpoint gets four concurrent posts, so the fifth delivery waits.
    for (let i = 0; i < 5; i += 1) await run();
    await receiver.waitFor(integration, 4);
    const first = await waits();
    shiftMs += 30_000;
    await until('a longer wait', async () => (await waits()) >= first + 30);
    posts.resolve({});
    const areDelivered = async () => (await deliveries(endpointId, 'status=delivered')).length === 5;
    await until('all deliveries', areDelivered);
    await until('no wait', async () => (await waits()) === 0);
  });

  test('both secrets sign for 24 hours after a rotation', async (t) => {
    cites(t, 'contract-21-rotate', 'contract-21-both-sign', 'contract-21-test');
    const { endpointId, secret: old } = await add();
    const { secret } = (await rig.api.post(`${below}/${endpointId}/rotate`, {})).body;
    const send = async (count: number) => {
      assert.equal((await rig.api.post(`${below}/${endpointId}/test`, {})).status, 202);
      const post = (await receiver.waitFor(integration, count)).at(-1);
      assert.ok(post !== undefined);
      return [matchingSignatures(post, old), matchingSignatures(post, secret)];
    };
    assert.deepEqual(await send(1), [1, 1]);
    shiftMs += 24 * HOUR_MS;
    assert.deepEqual(await send(2), [0, 1]);
  });

  test('an endpoint without an address keeps what it would get', async (t) => {
    cites(t, 'contract-21-no-url', 'contract-21-redeliver', 'contract-21-outbox');
    const { endpointId } = await add({ url: null });
    await run();
    // The end of the stream follows the commit of the end, so the event exists without a wait.
    const [skipped] = await deliveries(endpointId);
    assert.ok(skipped !== undefined, 'the run has ended without its event');
    assert.deepEqual([skipped.status, skipped.nextAttemptAt], ['skipped', null]);
    const again = await rig.api.post(`${below}/${endpointId}/deliveries/${skipped.deliveryId}/redeliver`, {});
    assert.deepEqual([again.status, again.body.eventId, again.body.status], [202, skipped.eventId, 'skipped']);
  });

  test('an endpoint that is paused with many pending deliveries skips them in batches', async () => {
    receiver.answers(integration, { status: 500 });
    const { endpointId } = await add();
    await run();
    await until('the first failure', async () => (await deliveries(endpointId))[0]?.attempts === 1);
    const [{ deliveryId }] = await deliveries(endpointId);
    await multiply(deliveryId, { next_attempt_at: `${Date.now() + shiftMs + 24 * HOUR_MS}` });
    const count = async (what: string) => {
      const where = `where endpoint_id = '${endpointId}' and delivery_id <> '${deliveryId}'`;
      const [row] = await askStore(rig.server.dataDir, `select ${what} as n from webhook_deliveries ${where}`);
      return Number(row?.n);
    };
    const pending = () => count(`count(case when status = 'pending' then 1 end)`);
    assert.equal(await pending(), 3125);
    assert.equal((await rig.api.patch(`${below}/${endpointId}`, { active: false })).status, 200);
    await until('the skipped deliveries', async () => (await pending()) === 0);
    assert.ok((await count('count(distinct settled_at)')) > 1, 'all deliveries were skipped in one transaction');
    const resumed = await rig.api.patch(`${below}/${endpointId}`, { active: true });
    assert.deepEqual([resumed.body.active, await pending()], [true, 0]);
  });

  test('a look continues after a thousand endpoints', async () => {
    const { endpointId } = await add({ url: null });
    await run();
    const [{ deliveryId }] = await deliveries(endpointId);
    // They are before all endpoints, and have none.
    const others = {
      endpoint_id: `'a' || a.n || b.n || c.n || d.n || e.n`,
      status: `'pending'`,
      next_attempt_at: String(Date.now() + shiftMs + 24 * HOUR_MS),
    };
    await multiply(deliveryId, others);
    await rig.api.patch(`${below}/${endpointId}`, { url: receiver.url(integration) });
    await run();
    await receiver.waitFor(integration, 1);
    await askStore(rig.server.dataDir, `delete from webhook_deliveries where endpoint_id like 'a%'`);
  });

  test('a delivery without its event is deleted', async () => {
    receiver.answers(integration, { status: 500 });
    const { endpointId } = await add();
    await run();
    await until('the first failure', async () => (await deliveries(endpointId))[0]?.attempts === 1);
    const [{ eventId }] = await deliveries(endpointId);
    // As if a replay had made it while an erasure deleted the event.
    await askStore(rig.server.dataDir, `delete from webhook_events where event_id = '${eventId}'`);
    shiftMs += 10_000;
    await until('the deletion', async () => (await deliveries(endpointId)).length === 0);
  });

  test('a page of filtered deliveries ends after 5000 that it reads', async (t) => {
    cites(t, 'contract-21-page');
    const { endpointId } = await add({ url: null });
    await run();
    const [oldest] = await deliveries(endpointId);
    for (const status of ['failed', 'delivered']) {
      await rig.api.post(`${below}/${endpointId}/test`, {});
      const [{ deliveryId }] = await deliveries(endpointId);
      await multiply(deliveryId, { status: `'${status}'` });
    }
    const page = async (query: string) => (await rig.api.get(`${below}/${endpointId}/deliveries?${query}`)).body;
    const first = await page('type=run.completed');
    assert.equal(first.items.length, 0);
    const second = await page(`type=run.completed&cursor=${first.nextCursor}`);
    assert.deepEqual([second.items[0]?.deliveryId, second.nextCursor], [oldest.deliveryId, null]);
    const period = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', types: ['run.completed'] };
    assert.deepEqual((await rig.api.post(`${below}/${endpointId}/replay`, period)).body, { deliveries: 1 });
  });

  test('refuses addresses to which nothing can be posted, and a 21st endpoint', async (t) => {
    cites(
      t,
      'contract-21-url-checked',
      'contract-21-at-most',
      'contract-21-read',
      'contract-21-delete',
      'contract-8-404-webhook-not-found',
      'contract-8-404-delivery-not-found',
      'contract-8-409-too-many-webhooks',
    );
    for (const [url, sentence] of [
      ['http://example.com/', /^`url` must be an https URL that receives webhooks/],
      ['https://127.0.0.1/', /make the receiver publicly accessible/],
      ['https://example.com:444/', /webhooks are posted only to port 443/],
      ['ftp://example.com/', /must be an https URL that receives webhooks/],
      ['https://u:p@example.com/', /contains a user name or a password/],
    ] as const) {
      const { status, body } = await rig.api.post(below, { url });
      assert.deepEqual([status, body.code], [400, 'invalid_request'], url);
      assert.match(body.error, sentence);
      assert.doesNotMatch(body.error, /file/);
    }
    for (let i = 0; i < 20; i += 1) await add({ url: null });
    const { status, body } = await rig.api.post(below, { url: null });
    assert.deepEqual([status, body.code], [409, 'too_many_webhooks']);
    const { items } = (await rig.api.get(`${below}?limit=100`)).body;
    assert.equal(items.length, 20);
    assert.equal((await rig.api.delete(`${below}/${items[0].endpointId}`)).status, 204);
    assert.equal((await rig.api.get(`${below}/${items[0].endpointId}`)).body.code, 'webhook_not_found');
    assert.equal(
      (await rig.api.get(`${below}/${items[1].endpointId}/deliveries/whd_x`)).body.code,
      'delivery_not_found',
    );
  });

  test('an upload is an event, and an erasure deletes the events of the person', async (t) => {
    cites(t, 'contract-21-upload', 'contract-21-erased');
    const { endpointId } = await add({ url: null });
    await rig.member(integration, 'ann');
    await rig.member(integration, 'bob');
    const { folder } = (await rig.api.get(`/v2/integrations/${integration}/members/ann`)).body;
    const form = { apiIntegrationId: integration, filename: 'a.txt' };
    await upload(rig.api, 'abc', { ...form, folder });
    await upload(rig.api, 'abcd', { ...form, folder: '/app/mnt/shared' });
    await run({ consumerId: 'ann', usageRequestId: 'a' });
    const { runId } = await run({ consumerId: 'bob', usageRequestId: 'b' });
    const types = async () => (await deliveries(endpointId)).map(({ type }: { type: string }) => type).sort();
    assert.deepEqual(await types(), ['run.completed', 'run.completed', 'upload.completed', 'upload.completed']);
    for (const one of await deliveries(endpointId)) {
      const { body } = (await rig.api.get(`${below}/${endpointId}/deliveries/${one.deliveryId}`)).body;
      if (!body.includes('/members/ann/') && !body.includes('"ann"')) continue;
      await copy('webhook_events', EVENT, one.eventId);
      await multiply(one.deliveryId, { event_id: 'event_id || a.n || b.n || c.n || d.n || e.n' });
    }
    await rig.api.delete(`/v2/integrations/${integration}/members/ann?erase=true`);
    await until('the erased events', async () => (await types()).length === 2);
    const events = `select event_id from webhook_events where integration_id = '${integration}'`;
    assert.equal((await askStore(rig.server.dataDir, events)).length, 2);
    const left = await deliveries(endpointId);
    assert.deepEqual(
      left.map((one: { type: string; runId: string | null }) => [one.type, one.runId]),
      [
        ['run.completed', runId],
        ['upload.completed', null],
      ],
    );
    const { body } = (await rig.api.get(`${below}/${endpointId}/deliveries/${left[1].deliveryId}`)).body;
    const { data } = JSON.parse(body);
    assert.deepEqual([data.path, data.size, data.contentType], ['/app/mnt/shared/a.txt', 4, 'text/plain']);
  });

  test('the sweep keeps delivered rows for some days, others for 30, and none of a deleted endpoint', async (t) => {
    cites(t, 'contract-21-kept');
    const { endpointId } = await add();
    const skipping = await add({ url: null });
    await run();
    await until('the delivery', async () => (await deliveries(endpointId))[0]?.status === 'delivered');
    const sweep = () => rig.server.server.probes.sweepWebhooks();
    const count = async () => [(await deliveries(endpointId)).length, (await deliveries(skipping.endpointId)).length];
    shiftMs += 6 * 24 * HOUR_MS;
    await sweep();
    assert.deepEqual(await count(), [1, 1]);
    shiftMs += 2 * 24 * HOUR_MS;
    await sweep();
    assert.deepEqual(await count(), [0, 1]);
    shiftMs += 23 * 24 * HOUR_MS;
    await sweep();
    assert.deepEqual(await count(), [0, 0]);
    await run();
    const last = async (id: string) => (await deliveries(id))[0];
    await until('the delivery', async () => (await last(endpointId))?.status === 'delivered');
    // Many rows of the same time, of which some stay, are walked in parts.
    const settledAt = String(Date.now() + shiftMs);
    for (const id of [endpointId, skipping.endpointId]) {
      await multiply((await last(id)).deliveryId, { settled_at: settledAt });
    }
    shiftMs += 8 * 24 * HOUR_MS;
    assert.ok((await sweep()) >= 3126);
    assert.equal((await deliveries(endpointId)).length, 0);
    shiftMs += 23 * 24 * HOUR_MS;
    await sweep();
    assert.deepEqual(await count(), [0, 0]);
    const events = `select event_id from webhook_events where integration_id = '${integration}'`;
    assert.deepEqual(await askStore(rig.server.dataDir, events), []);
    await rig.api.post(`${below}/${endpointId}/test`, {});
    await rig.api.delete(`${below}/${endpointId}`);
    assert.ok((await sweep()) >= 1);
  });

  test('a used-up allowance is reported once, by concurrent runs and by an adjustment', async (t) => {
    cites(t, 'contract-21-exhausted');
    const { endpointId } = await add({ url: null, events: ['member.allowance_exhausted'] });
    await rig.api.patch(`/v2/integrations/${integration}`, {
      allowances: { unit: 'runs', limit: 3, period: 'day' },
    });
    for (const member of ['ann', 'bob', 'cyd']) await rig.member(integration, member);
    const members = async () =>
      Promise.all(
        (await deliveries(endpointId)).map(async ({ deliveryId }: { deliveryId: string }) => {
          const { body } = (await rig.api.get(`${below}/${endpointId}/deliveries/${deliveryId}`)).body;
          const { consumerId, allowance } = JSON.parse(body).data;
          return [consumerId, allowance.used, allowance.exhausted];
        }),
      );
    const runAs = (consumerId: string, usageRequestId: string) => run({ consumerId, usageRequestId });
    await runAs('ann', 'a1');
    const held = [];
    for (const id of ['a2', 'a3']) {
      held.push(
        await rig.hold({ apiIntegrationId: integration, message: 'Hi', consumerId: 'ann', usageRequestId: id }),
      );
    }
    assert.deepEqual(await members(), []);
    await Promise.all(held.map((one) => one.finish('Hi')));
    await until('the report', async () => (await members()).length === 1);
    assert.deepEqual(await members(), [['ann', 3, true]]);
    // A lowered limit reports nothing, and neither does what follows it.
    await runAs('bob', 'b1');
    await runAs('bob', 'b2');
    const last = await rig.hold({
      apiIntegrationId: integration,
      message: 'Hi',
      consumerId: 'bob',
      usageRequestId: 'b3',
    });
    await rig.api.put(`/v2/integrations/${integration}/members/bob`, { allowance: { limit: 1 } });
    await last.finish('Hi');
    await rig.api.post(`/v2/integrations/${integration}/members/cyd/adjustments`, {
      ...{ unit: 'runs', amount: -3, idempotencyKey: 'k', reason: 'A test.' },
    });
    await until('the second report', async () => (await members()).length === 2);
    assert.deepEqual((await members())[0], ['cyd', 3, true]);
  });
}
