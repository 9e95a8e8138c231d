import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { operations } from '@runwire/contract/schemas';
import { Keys } from '@runwire/server/src/accounts/keys.ts';
import { People } from '@runwire/server/src/accounts/people.ts';
import { notAudited } from '@runwire/server/src/audit/audit.ts';
import { type ApiClient, STORES, type StoreName, startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { ConsolePage } from './support/console-page.ts';
import { listSamples, paste } from './support/doc-samples.ts';
import { refused } from './support/refused.ts';
import { COMPATIBLE_OPERATIONS, LEAST_ROLE, mayCall, ROLES, type RoleOperation } from './support/role-table.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const OPAQUE_KEY = 'an-opaque-key-of-at-least-32-characters';
const OWN: readonly RoleOperation[] = Object.values(operations)
  .filter(({ auth }) => auth)
  .map(({ operationId: id, method, path }) => ({ id, method, path }));
const ALL = [...OWN, ...COMPATIBLE_OPERATIONS];

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, env: { RUNWIRE_API_KEY: OPAQUE_KEY } });
  let api: ApiClient;
  let people = 0;
  before(async () => {
    api = rig.api.as(OPAQUE_KEY);
    for (const apiIntegrationId of ['one', 'two']) {
      const made = await api.post('/v2/integrations', { apiIntegrationId, agency: 'test', defaultAgent: 'Clerk' });
      assert.equal(made.status, 201);
      assert.equal((await api.put(`/v2/integrations/${apiIntegrationId}/members/ann`, {})).status, 201);
    }
  });

  async function newKey(fields: object, by = api) {
    const { status, body } = await by.post('/v2/api_keys', fields);
    assert.equal(status, 201, JSON.stringify(body));
    return { ...body, api: by.as(body.apiKey) };
  }

  /** An invited person who has set a password and is signed in. */
  async function newPerson(role: string, by = api) {
    people += 1;
    const email = `person-${people}@example.com`;
    const { status, body } = await by.post('/v2/people', { email, name: `Person ${people}`, role });
    assert.equal(status, 201, JSON.stringify(body));
    const page = new ConsolePage(rig.server.url);
    assert.deepEqual(await page.setUp(body.setupLink, email), [204]);
    const { personId } = body;
    const person = { personId, email, name: body.name, role };
    return { ...person, page, api: await page.api(), path: `/v2/people/${personId}` };
  }

  /** The request is wrong: an allowed caller gets another refusal than 403, and nothing changes. */
  async function tryAll(who: string, by: ApiClient, may: (operation: RoleOperation) => boolean) {
    for (const operation of ALL) {
      const { id, method } = operation;
      const path = operation.path.replace(/:(\w+)/g, (_, name) => (name === 'apiIntegrationId' ? 'one' : 'none'));
      const body = method === 'GET' || method === 'HEAD' ? undefined : { apiIntegrationId: 5 };
      const { status, body: answer, headers } = await by.call(method, `${path}?wrong=1`, body);
      const isForbidden =
        status === 403 && (method === 'HEAD' || (answer.code ?? answer.error?.code) === 'role_forbidden');
      assert.equal(isForbidden, !may(operation), `${who}: ${id}: ${status} ${JSON.stringify(answer)}`);
      if (!isForbidden && id !== 'getMetrics')
        assert.ok(status >= 400 && status < 500 && status !== 401, `${who}: ${id}`);
      if (id === 'getCompletionV2') assert.equal(headers.get('x-agent-run-admitted'), 'false');
    }
  }

  test('every operation is refused below its role, before the request is checked', async (t) => {
    cites(t, 'contract-28-roles', 'contract-28-role-table', 'contract-28-role-order', 'contract-8-403-role-forbidden');
    assert.deepEqual(ALL.map(({ id }) => id).sort(), [...LEAST_ROLE.keys()].sort(), 'the table of this test has all');
    for (const role of ROLES) {
      const key = await newKey({ role });
      await tryAll(`key ${role}`, key.api, (operation) => mayCall(role, operation, 'key'));
      const scoped = await newKey({ role, integrations: ['one'] });
      await tryAll(`scoped key ${role}`, scoped.api, (operation) => mayCall(role, operation, 'scoped key'));
      const person = await newPerson(role);
      await tryAll(`person ${role}`, person.api, (operation) => mayCall(role, operation, 'person'));
    }
  });

  test('a key with integrations reaches no other one', async (t) => {
    cites(t, 'contract-28-scoped-keys');
    const { api: scoped } = await newKey({ role: 'manager', integrations: ['one'] });
    const listed = (await scoped.get('/v2/integrations')).body.items;
    assert.deepEqual(
      listed.map((item: { apiIntegrationId: string }) => item.apiIntegrationId),
      ['one'],
    );
    assert.deepEqual((await scoped.get('/v2/questions')).body.items, []);
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    await newKey({ name: 'ends soon', expiresAt: soon });
    assert.equal((await api.get('/v2/overview')).body.expiringKeys.length, 1);
    const overview = await scoped.get('/v2/overview');
    assert.deepEqual([overview.status, overview.body.expiringKeys], [200, []], 'it sees no keys');
    assert.equal((await scoped.get('/v2/overview?integration=one')).status, 200);
    await refused(scoped.get('/v2/overview?integration=two'), 403, 'role_forbidden');
    assert.equal((await scoped.get('/v2/integrations/one/runs')).status, 200);
    for (const other of ['two', 'demo', 'no-such', 'ONE', 'one%2f..%2ftwo']) {
      await refused(scoped.get(`/v2/integrations/${other}/runs`), 403, 'role_forbidden');
      const { status, body } = await scoped.get(`/v2/integrations/${other}/openai/v1/models`);
      assert.deepEqual([status, body.error.code], [403, 'role_forbidden']);
    }
    for (const apiIntegrationId of ['two', 'no-such']) {
      const body = { apiIntegrationId, message: 'Hi' };
      await refused(scoped.post('/get_completion_v2', body), 403, 'role_forbidden');
      const form = { apiIntegrationId, folder: '/app/mnt/a', filename: 'a', contentType: 'text/plain', sizeBytes: 1 };
      await refused(scoped.post('/create_agency_upload', form), 403, 'role_forbidden');
    }
    const reader = await scoped.complete({ apiIntegrationId: 'one', message: 'Hi' });
    await (await rig.controller.nextCall()).end();
    assert.equal(reader.status, 200);
    await reader.whole();
    const { body: token } = await scoped.post('/v2/integrations/one/client_tokens', { consumerId: 'ann' });
    const page = api.as(token.clientToken);
    assert.equal((await page.get('/v2/integrations/one/chats')).status, 200);
    await refused(page.get('/v2/integrations/two/chats'), 403, 'token_forbidden');
    // It makes no key, which could reach more, and sees none.
    await refused(scoped.post('/v2/api_keys', { integrations: ['one'] }), 403, 'role_forbidden');
    await refused(scoped.post('/v2/integrations', {}), 403, 'role_forbidden');
    for (const integrations of [[], ['one', 'one'], 'one'])
      await refused(api.post('/v2/api_keys', { integrations }), 400, 'invalid_request', /integrations/);
    await refused(api.post('/v2/api_keys', { integrations: ['no-such'] }), 404, 'integration_not_found');
    const { body: owner } = await api.post('/v2/owners', { email: `of-${store}@example.com` });
    await refused(api.as(owner.apiKey).post('/v2/api_keys', { integrations: ['one'] }), 403, 'integration_forbidden');
  });

  test('keys have at most the role of their creator, who is listed with them', async (t) => {
    cites(t, 'contract-28-own-role', 'contract-28-key-fields', 'contract-28-own-keys', 'contract-28-opaque-key');
    const { api: manager, ...made } = await newKey({ name: 'backend', role: 'developer', integrations: ['one'] });
    assert.ok(manager !== undefined);
    const { body: me } = await api.get('/v2/me');
    assert.deepEqual([me.person, me.key.role, me.key.integrations], [null, 'manager', null]);
    const { apiKey, ...shown } = made;
    assert.equal(shown.suffix, apiKey.slice(-6));
    assert.deepEqual(shown.createdBy, { kind: 'key', id: null, name: 'RUNWIRE_API_KEY' });
    const { items } = (await api.get('/v2/api_keys?limit=2')).body;
    const { keyId, name, role, integrations } = items[0];
    assert.deepEqual([items.length, keyId, name, role, integrations], [2, null, 'RUNWIRE_API_KEY', 'manager', null]);
    assert.deepEqual(items[1], shown, 'the newest key, with the same fields');
    const next = (await api.get('/v2/api_keys?limit=1')).body;
    const second = (await api.get(`/v2/api_keys?limit=1&cursor=${next.nextCursor}`)).body;
    assert.deepEqual(second.items, [shown]);

    const developer = await newPerson('developer');
    await refused(
      developer.api.post('/v2/api_keys', { role: 'manager' }),
      403,
      'role_forbidden',
      /needs the role `manager`/,
    );
    await refused(developer.api.post('/v2/api_keys', {}), 403, 'role_forbidden');
    const own = await newKey({ role: 'developer' }, developer.api);
    const below = await newKey({ role: 'viewer' }, own.api);
    assert.deepEqual(own.createdBy, { kind: 'person', id: developer.personId, name: developer.name });
    const readKeyIds = async (by: ApiClient) =>
      (await by.get('/v2/api_keys')).body.items.map((key: { keyId: string }) => key.keyId);
    assert.deepEqual(await readKeyIds(developer.api), [own.keyId]);
    assert.deepEqual(await readKeyIds(own.api), [below.keyId]);
    await refused(developer.api.delete(`/v2/api_keys/${made.keyId}`), 404, 'key_not_found');
    await refused(developer.api.delete(`/v2/api_keys/${below.keyId}`), 404, 'key_not_found');
    assert.equal((await own.api.delete(`/v2/api_keys/${below.keyId}`)).status, 204);
    assert.equal((await api.delete(developer.path)).status, 204);
    assert.equal((await own.api.get('/v2/me')).status, 200, 'keys outlive the person who made them');
    assert.deepEqual(
      (await api.get(`/v2/api_keys?limit=200`)).body.items.find((key: { keyId: string }) => key.keyId === own.keyId)
        .createdBy,
      own.createdBy,
    );
  });

  test('people are invited, changed and removed', async (t) => {
    cites(
      t,
      'contract-28-people',
      'contract-28-last-manager',
      'contract-8-409-person-exists',
      'contract-8-409-last-manager',
    );
    cites(t, 'contract-8-404-person-not-found', 'contract-28-first-person', 'contract-28-me');
    const { body: owner } = await api.post('/v2/owners', { email: `first-${store}@example.com`, name: 'First' });
    const { ownerId } = owner;
    const key = api.as(owner.apiKey);
    const [first] = (await key.get('/v2/people')).body.items;
    const { createdAt, ...fields } = first;
    assert.ok(typeof createdAt === 'string');
    const email = `first-${store}@example.com`;
    const state = { state: 'invited', lastSeenAt: null };
    assert.deepEqual(fields, { personId: ownerId, email, name: 'First', role: 'manager', ...state });
    await refused(key.patch(`/v2/people/${ownerId}`, { role: 'developer' }), 409, 'last_manager');
    await refused(key.delete(`/v2/people/${ownerId}`), 409, 'last_manager');

    const bo = await newPerson('manager', key);
    const shown = (await key.get(bo.path)).body;
    assert.deepEqual([shown.state, shown.role, typeof shown.lastSeenAt], ['active', 'manager', 'string']);
    const { body: me } = await bo.api.get('/v2/me');
    const { page: _, api: asBo, path, ...person } = bo;
    assert.deepEqual([me.person, me.ownerId, me.key.role], [person, ownerId, 'manager']);
    await refused(key.post('/v2/people', { email: bo.email.toUpperCase(), role: 'viewer' }), 409, 'person_exists');
    await refused(api.post('/v2/people', { email: bo.email, role: 'viewer' }), 409, 'person_exists');
    await refused(api.post('/v2/owners', { email: bo.email }), 409, 'owner_exists');
    for (const wrong of [{ role: 'owner' }, { role: null }, { email: 'none' }, { other: 1 }])
      await refused(key.patch(path, wrong), 400, 'invalid_request');
    // Another owner's managers find no such person.
    for (const by of [api, api.as(OPAQUE_KEY)]) {
      await refused(by.get(path), 404, 'person_not_found');
      await refused(by.patch(path, { role: 'viewer' }), 404, 'person_not_found');
      await refused(by.delete(path), 404, 'person_not_found');
    }
    // The person changes itself, and not the owner.
    const renamed = (await asBo.patch('/v2/me', { name: 'Bo', email: `BO-${store}@example.com` })).body;
    assert.deepEqual(renamed.person, { ...person, name: 'Bo', email: `bo-${store}@example.com` });
    assert.equal(renamed.email, email);
    // With a key the first person is changed, as before people existed.
    assert.equal((await key.patch('/v2/me', { name: 'One' })).body.name, 'One');
    assert.equal((await key.get(`/v2/people/${ownerId}`)).body.name, 'One');

    assert.equal((await asBo.delete(`/v2/people/${ownerId}`)).status, 204, 'another manager is left');
    await refused(asBo.delete(path), 409, 'last_manager');
    await refused(key.patch('/v2/me', { email: 'other@example.com' }), 404, 'person_not_found');
    assert.deepEqual(await new ConsolePage(rig.server.url).setUp(owner.setupLink, email), [400, 'invalid_set_up_link']);
    assert.equal((await api.post('/v2/people', { email, role: 'viewer' })).status, 201, 'the e-mail is free again');
    assert.equal((await api.delete(`/v2/owners/${ownerId}`)).status, 204);
    await refused(asBo.get('/v2/me'), 401, 'invalid_api_key');
    assert.deepEqual(await bo.page.result('token'), [401, 'session_ended']);
  });

  test('a changed role and a removed person count, also for client tokens and open streams', async (t) => {
    cites(t, 'contract-28-changes-count', 'contract-28-client-tokens');
    const eve = await newPerson('manager');
    const { body } = await eve.api.post('/v2/integrations/one/client_tokens', { consumerId: 'ann' });
    const ofEve = api.as(body.clientToken);
    const ofOne = { apiIntegrationId: 'one', message: 'Hi' };
    const page = await ofEve.complete({ ...ofOne, consumerId: 'ann' });
    const own = await eve.api.complete(ofOne);
    assert.deepEqual([page.status, own.status], [200, 200]);
    const calls = [await rig.controller.nextCall(), await rig.controller.nextCall()];
    assert.equal((await eve.api.get('/v2/people')).status, 200);
    assert.equal((await api.patch(eve.path, { role: 'operator' })).status, 200);
    await refused(eve.api.get('/v2/people'), 403, 'role_forbidden');
    await refused(eve.api.post('/v2/api_keys', { role: 'viewer' }), 403, 'role_forbidden');
    await refused(ofEve.get('/v2/integrations/one/chats'), 401, 'invalid_api_key', /may not mint tokens/);
    assert.equal(await page.over, false, 'the stream of the client token is cut');
    assert.equal((await api.patch(eve.path, { role: 'developer' })).status, 200);
    assert.equal((await ofEve.get('/v2/integrations/one/chats')).status, 200, 'the role is not in the token');
    assert.equal((await api.delete(eve.path)).status, 204);
    assert.equal(await own.over, false, 'the stream of the person, who could still read it, is cut');
    for (const call of calls) await call.end();
    await refused(eve.api.get('/v2/me'), 401, 'invalid_api_key');
    await refused(ofEve.get('/v2/integrations/one/chats'), 401, 'invalid_api_key');
    assert.deepEqual(await eve.page.result('token'), [401, 'session_ended']);
    assert.deepEqual(await new ConsolePage(rig.server.url).signIn(eve.email), [401, 'invalid_sign_in']);
  });
}

test('restricted people and keys are refused while a node of an earlier version is alive', async (t) => {
  cites(t, 'contract-28-earlier-nodes');
  const earlierNodes = { areAlive: () => true };
  const principal = { role: 'manager', ownerId: 'own_1' } as unknown as Parameters<Keys['create']>[0];
  const keys = new Keys({ earlierNodes } as unknown as ConstructorParameters<typeof Keys>[0]);
  const people = new People(undefined as never, undefined as never, earlierNodes);
  for (const refusedOne of [
    keys.create(principal, { role: 'viewer' }, notAudited),
    keys.create(principal, { integrations: ['one'] }, notAudited),
    people.create(principal, { email: 'a@example.com', role: 'developer' }, notAudited),
    people.update(principal, 'per_1', { role: 'viewer' }, notAudited),
  ])
    await assert.rejects(refusedOne, { code: 'unavailable' });
});

test('the sample of the guide works as pasted', { skip: (await missingService('curl')) ?? false }, async (t) => {
  await using server = await startTestServer();
  const [sample = ''] = listSamples('docs/roles.md', 'sh');
  const printed = await paste(t, sample, { URL: server.url, KEY: TEST_API_KEY });
  assert.match(printed, /"role":"operator","state":"invited"/);
  assert.match(printed, /"role":"viewer","integrations":\["demo"\]/);
});
