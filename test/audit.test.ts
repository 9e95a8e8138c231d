import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PageTurns } from '@runwire/lib/page-turns.ts';
import { type ApiClient, hookStore, STORES, type StoreName, startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { ConsolePage } from './support/console-page.ts';
import { listSamples, paste } from './support/doc-samples.ts';
import { eventually } from './support/eventually.ts';
import { refused } from './support/refused.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';
import { upload } from './support/uploads.ts';

interface Event {
  readonly actor: { readonly kind: string; readonly id: string | null; readonly name: string | null };
  readonly operation: string;
  readonly target: string;
  readonly changes: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>> | null;
  readonly requestId: string;
  readonly address: string | null;
  readonly at: string;
}

class CountedTurns extends PageTurns {
  taken = 0;

  override take(ownerId: string) {
    this.taken += 1;
    return super.take(ownerId);
  }
}

const DAY_MS = 86_400_000;
const SECRET = 'planted-secret';
const TEXT = 'planted-message';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const turns = new CountedTurns(1);
  /** Rows of each query that is built for one call. */
  const read: number[] = [];
  /** How many audit events each transaction changed. */
  const changed: { name: string; events: number }[] = [];
  const wrapStore = hookStore({
    read: async (statement, query) => {
      const rows = await query();
      if (statement === '') read.push(rows.length);
      return rows;
    },
    transact: (name, transact) => {
      changed.push({ name, events: 0 });
      return transact();
    },
    write: async (statement, write) => {
      const rows = await write();
      const last = changed.at(-1);
      if (last !== undefined && /(erase|delete).* audit events/.test(statement)) last.events += rows;
      return rows;
    },
  });
  const rig = ScriptedServer.shared({ store, turns, wrapStore, limits: { eraseRewriteMs: 0 } });
  let api: ApiClient;
  before(() => {
    api = rig.api;
  });

  const events = async (query = ''): Promise<readonly Event[]> =>
    (await api.get(`/v2/audit?limit=200${query}`)).body.items;

  /** Calls an operation that changes something, and returns the one event that it left. */
  async function audited(operation: string, call: (by: ApiClient) => ReturnType<ApiClient['get']>) {
    const known = (await events()).length;
    const answer = await call(api);
    assert.ok(answer.status < 300, `${operation}: ${answer.status} ${JSON.stringify(answer.body)}`);
    const all = await events();
    assert.equal(all.length, known + 1, `${operation} leaves one event`);
    const [event] = all;
    assert.ok(event !== undefined);
    assert.equal(event.operation, operation);
    assert.deepEqual([event.actor.kind, event.actor.name], ['key', 'RUNWIRE_API_KEY'], operation);
    assert.equal(event.requestId, answer.headers.get('x-request-id'), operation);
    assert.equal(event.address, '127.0.0.1', operation);
    return { event, body: answer.body };
  }

  test('every change leaves one event, without secrets and texts of messages', async (t) => {
    cites(t, 'contract-28-audit', 'contract-28-audit-events', 'contract-28-audit-fields', 'agents-34-audit');
    const shown: unknown[] = [];
    const step = async (operation: string, call: Parameters<typeof audited>[1]) => {
      const { event, body } = await audited(operation, call);
      for (const name of ['apiKey', 'setupLink', 'secret'])
        if (typeof body?.[name] === 'string') shown.push(body[name]);
      return { event, body };
    };
    const one = '/v2/integrations/one';
    const made = await step('createIntegration', (by) =>
      by.post('/v2/integrations', { apiIntegrationId: 'one', agency: 'test', defaultAgent: 'Clerk' }),
    );
    assert.deepEqual(made.event.changes?.agency, { before: null, after: 'test' });
    const updated = await step('updateIntegration', (by) => by.patch(one, { name: 'First' }));
    assert.deepEqual(updated.event.changes, { name: { before: 'one', after: 'First' } });
    assert.equal(updated.event.target, 'integration:one');

    const key = await step('createApiKey', (by) => by.post('/v2/api_keys', { name: 'a', role: 'viewer' }));
    assert.deepEqual(key.event.changes?.role, { before: null, after: 'viewer' });
    assert.equal(key.event.target, `key:${key.body.keyId}`);
    await step('revokeApiKey', (by) => by.delete(`/v2/api_keys/${key.body.keyId}`));
    const email = `audited-${store}@example.com`;
    const person = await step('createPerson', (by) => by.post('/v2/people', { email, role: 'developer' }));
    const path = `/v2/people/${person.body.personId}`;
    const lowered = await step('updatePerson', (by) => by.patch(path, { role: 'viewer' }));
    assert.deepEqual(lowered.event.changes, { role: { before: 'developer', after: 'viewer' } });
    await step('deletePerson', (by) => by.delete(path));
    const owner = await step('createOwner', (by) => by.post('/v2/owners', { email }));
    await step('deleteOwner', (by) => by.delete(`/v2/owners/${owner.body.ownerId}`));
    await step('updateMe', (by) => by.patch('/v2/me', { name: 'Root' }));

    const member = await step('putMember', (by) => by.put(`${one}/members/ann`, { name: 'Ann' }));
    assert.equal(member.event.target, 'member:ann');
    const before = (await events()).length;
    assert.equal((await api.put(`${one}/members/ann`, { name: 'Ann' })).status, 200);
    assert.equal((await events()).length, before, 'a repeat changes nothing');
    await api.patch(one, { allowances: { unit: 'tokens', limit: 1000, period: 'month' } });
    const adjustment = { unit: 'tokens', amount: 1, reason: 'a gift', idempotencyKey: 'a' };
    await step('createAdjustment', (by) => by.post(`${one}/members/ann/adjustments`, adjustment));

    const history = [
      { role: 'user', content: TEXT },
      { role: 'assistant', content: TEXT },
    ];
    await step('createChat', (by) => by.post(`${one}/chats`, { chatId: 'c1', consumerId: 'ann', history }));
    const chat = await step('updateChat', (by) => by.patch(`${one}/chats/c1`, { title: 'New' }));
    assert.deepEqual(chat.event.changes, { title: { before: null, after: 'New' } });
    const patched = await step('updateChatState', (by) => by.patch(`${one}/chats/c1/state`, { plan: TEXT, cart: 1 }));
    const stateKeys = { before: null, after: ['plan', 'cart'] };
    assert.deepEqual(patched.event.changes, { stateKeys, stateKeyCount: { before: null, after: 2 } });
    await step('forkChat', (by) => by.post(`${one}/chats/c1/fork`, { chatId: 'c2' }));
    await step('deleteChat', (by) => by.delete(`${one}/chats/c2`));
    await step('openaiCreateConversation', (by) => by.post(`${one}/openai/v1/conversations`, { metadata: { a: 'b' } }));

    await upload(api, 'ann', { apiIntegrationId: 'one', folder: '/app/mnt/members/ann', filename: 'a.txt' });
    const file = await step('deleteFile', (by) => by.delete(`${one}/files?path=/app/mnt/members/ann/a.txt`));
    assert.equal(file.event.target, 'file:/app/mnt/members/ann/a.txt');

    const request = { message: TEXT };
    const schedule = await step('createSchedule', (by) =>
      by.post(`${one}/schedules`, { name: 'a', cron: '0 0 1 1 *', request }),
    );
    const scheduled = `${one}/schedules/${schedule.body.scheduleId}`;
    const paused = await step('updateSchedule', (by) => by.patch(scheduled, { active: false, request }));
    assert.deepEqual(paused.event.changes, { active: { before: true, after: false } });
    await step('deleteSchedule', (by) => by.delete(scheduled));

    const url = `https://example.com/hook?token=${SECRET}`;
    const hook = await step('createWebhook', (by) => by.post(`${one}/webhooks`, { url }));
    const hooked = `${one}/webhooks/${hook.body.endpointId}`;
    await step('updateWebhook', (by) => by.patch(hooked, { active: false }));
    await step('rotateWebhook', (by) => by.post(`${hooked}/rotate`, {}));
    await step('deleteWebhook', (by) => by.delete(hooked));
    await step('deleteMember', (by) => by.delete(`${one}/members/ann`));
    await step('deleteIntegration', (by) => by.delete(one));

    const all = JSON.stringify(await events());
    for (const secret of [...shown, SECRET, TEXT]) assert.ok(!all.includes(String(secret)), String(secret));
  });

  test('starting and reading runs, signing and uploading leave no event', async (t) => {
    cites(t, 'contract-28-audit-without');
    await api.put('/v2/integrations/demo/members/bob', {});
    const known = (await events()).length;
    const reader = await api.complete({ apiIntegrationId: 'demo', consumerId: 'bob', message: '/slow 5' });
    const runId = String(reader.headers['x-run-id']);
    await api.get(`/v2/integrations/demo/runs/${runId}`);
    await api.post(`/v2/integrations/demo/runs/${runId}/cancel`, {});
    await reader.whole();
    await api.post('/v2/integrations/demo/client_tokens', { consumerId: 'bob' });
    await upload(api, 'bob', { apiIntegrationId: 'demo', folder: '/app/mnt/members/bob', filename: 'a.txt' });
    await refused(api.patch('/v2/integrations/demo', { agency: 'none' }), 400, 'unknown_agency');
    assert.equal((await events()).length, known);
  });

  test('a person is the actor, and the filters select', async (t) => {
    cites(t, 'contract-28-audit-filters', 'contract-28-audit-csv');
    const email = `actor-${store}@example.com`;
    const { body: invited } = await api.post('/v2/people', { email, name: '=Eve', role: 'manager' });
    const page = new ConsolePage(rig.server.url);
    assert.deepEqual(await page.setUp(invited.setupLink, email), [204]);
    const eve = await page.api();
    const { body: key } = await eve.post('/v2/api_keys', { name: 'of Eve' });
    const own = await events(`&actor=${invited.personId}`);
    assert.deepEqual(
      own.map(({ actor, operation, target }) => [actor, operation, target]),
      [[{ kind: 'person', id: invited.personId, name: '=Eve' }, 'createApiKey', `key:${key.keyId}`]],
    );
    const at = own[0]?.at ?? '';
    assert.deepEqual(await events(`&target=key:${key.keyId}`), own);
    assert.deepEqual((await events('&operation=createApiKey'))[0], own[0]);
    assert.deepEqual(await events(`&actor=${invited.personId}&to=${at}`), []);
    assert.equal((await events(`&actor=${invited.personId}&from=${at}`)).length, 1);
    const csv = await eve.get(`/v2/audit?format=csv&actor=${invited.personId}`);
    const [head = '', line = '', end] = String(csv.body).split('\r\n');
    assert.match(head, /^at,actorKind,actorId,actorName,operation,target,/);
    assert.ok(line.startsWith(`${at},person,${invited.personId},'=Eve,createApiKey,key:${key.keyId},,`), line);
    assert.equal(end, '');
    await refused(eve.get('/v2/audit?format=csv&limit=5'), 400, 'invalid_request');
    assert.equal((await api.delete(`/v2/people/${invited.personId}`)).status, 204);
    // Another owner sees nothing of it.
    const { body: owner } = await api.post('/v2/owners', { email: `other-${email}` });
    assert.deepEqual((await api.as(owner.apiKey).get('/v2/audit')).body.items, []);
  });

  test('an erasure replaces the member in the audit log', async (t) => {
    cites(t, 'contract-28-audit-erasure');
    const below = '/v2/integrations/demo';
    await api.put(`${below}/members/zoe`, { name: 'Zoe Zander' });
    await api.post(`${below}/chats`, { chatId: 'zoes-chat', consumerId: 'zoe' });
    await upload(api, 'zoe', { apiIntegrationId: 'demo', folder: '/app/mnt/members/zoe', filename: 'zoes.txt' });
    await api.delete(`${below}/files?path=/app/mnt/members/zoe/zoes.txt`);
    await api.patch(below, { name: 'Demo again' });
    const known = (await events()).length;
    assert.equal((await api.delete(`${below}/members/zoe?erase=true`)).status, 202);
    await eventually('erased', async () => (await api.get(`${below}/members/zoe/erasure`)).body.status === 'erased');
    const all = await events();
    assert.equal(all.length, known + 1);
    assert.doesNotMatch(JSON.stringify(all), /zoe/i);
    const about = all.filter(({ target }) => target.includes(':erased_'));
    assert.deepEqual(
      about.map(({ operation }) => operation),
      ['deleteMember', 'deleteFile', 'createChat', 'putMember'],
    );
    for (const { changes, address } of about) assert.deepEqual([changes, address], [null, null]);
    assert.equal(all.find(({ target }) => target === 'integration:demo')?.changes?.name?.after, 'Demo again');
  });

  test('many events are read, erased and deleted in portions', async (t) => {
    cites(t, 'contract-28-audit-csv', 'contract-28-audit-erasure');
    const { api: other, apiIntegrationId } = await rig.owner(`many-${store}@example.com`);
    const below = `/v2/integrations/${apiIntegrationId}`;
    const { ownerId } = (await other.get('/v2/me')).body;
    await other.put(`${below}/members/zoe`, {});
    const ask = (statement: string) => askStore(rig.server.dataDir, statement);
    /** As paths are stored. */
    const folder = '/members/zoe/'.replaceAll('/', '\u0001');
    // 600 about the member, by its id or the path of a file or both, and 600 others.
    await ask(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 1200)
      insert into audit_events (event_id, owner_id, at, actor_kind, operation, target_kind, target_id, changes_json,
        integration_id, consumer_id, path)
      select 'aud_' || n, '${ownerId}', n, 'key', 'planted', 'file', 'a', '{"name":{"before":null,"after":"=b"}}',
        '${apiIntegrationId}', case when n <= 400 then 'zoe' end,
        case when n > 200 and n <= 600 then '${folder}' || n end from numbers`);

    read.length = 0;
    turns.taken = 0;
    const csv = String((await other.get('/v2/audit?format=csv&operation=planted')).body).split('\r\n');
    assert.equal(csv.length, 1202);
    assert.match(String(csv[1]), /,planted,file:a,[^,]*,"\{""name"":\{""before"":null,""after"":""=b""\}\}",,$/);
    assert.deepEqual(read, [...new Array(12).fill(100), 0]);
    assert.equal(turns.taken, 13, 'a turn for each page');
    read.length = 0;
    const { items } = (await other.get('/v2/audit?operation=planted&limit=200')).body;
    assert.deepEqual([items.length, items[0].changes], [200, { name: { before: null, after: '=b' } }]);
    assert.deepEqual(read, [201, 50, 50, 50, 50], 'the sizes, then portions');

    /** The most events that a transaction changed, and all of them. */
    const figures = (name: string) => {
      const counts = changed.filter((one) => one.name === name).map(({ events }) => events);
      return [Math.max(...counts), counts.reduce((all, events) => all + events, 0)];
    };
    changed.length = 0;
    await other.delete(`${below}/members/zoe?erase=true`);
    await eventually('erased', async () => (await other.get(`${below}/members/zoe/erasure`)).body.status === 'erased');
    const named = 'select event_id from audit_events where';
    assert.deepEqual(await ask(`${named} consumer_id = 'zoe' or path like '${folder}%'`), []);
    assert.equal((await ask(`${named} operation = 'planted' and changes_json is null`)).length, 600);
    // The two others are the registration and the erasure of the member.
    assert.deepEqual(figures('erasure'), [250, 602]);

    changed.length = 0;
    assert.equal((await other.delete(below)).status, 204);
    assert.equal((await api.delete(`/v2/owners/${ownerId}`)).status, 204);
    assert.equal(await rig.server.server.probes.sweepAudit(), 1204);
    assert.deepEqual(await ask(`${named} owner_id = '${ownerId}'`), []);
    assert.deepEqual(figures('account'), [0, 0]);
    assert.deepEqual(figures('sweep'), [1000, 1204]);
  });
}

test('the sample of the guide works as pasted', { skip: (await missingService('curl')) ?? false }, async (t) => {
  await using server = await startTestServer();
  const { body: person } = await server.api.post('/v2/people', { email: 'bo@example.com', role: 'developer' });
  await server.api.patch(`/v2/people/${person.personId}`, { role: 'operator' });
  const [sample = ''] = listSamples('docs/audit.md', 'sh');
  const printed = await paste(t, sample, { URL: server.url, KEY: TEST_API_KEY });
  assert.match(printed, /"operation":"updatePerson".*"changes":\{"role":\{"before":"developer","after":"operator"\}\}/);
  assert.match(printed, /^at,actorKind,/m);
});

test('events are deleted after their days', async (t) => {
  cites(t, 'contract-28-audit-days');
  let now = Date.now();
  await using server = await startTestServer({ store: 'sqlite', clock: () => now, limits: { sweepMs: 100 } });
  await server.api.post('/v2/api_keys', { name: 'old' });
  const count = async () => (await server.api.get('/v2/audit')).body.items.length;
  now += 364 * DAY_MS;
  await sleep(500);
  assert.equal(await count(), 1);
  now += 2 * DAY_MS;
  await eventually('deleted', async () => (await count()) === 0);
});
