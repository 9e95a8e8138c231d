import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type ApiClient,
  STORES,
  type StoreName,
  startTestServer,
  type TestServer,
  testAgency,
} from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { pickColumn } from './support/columns.ts';
import { refused } from './support/refused.ts';
import { ISO_TIME } from './support/scripted-server.ts';

const MONTHLY = { unit: 'tokens', limit: 100_000, period: 'month' };

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  let server: TestServer;
  let api: ApiClient;
  before(async () => {
    server = await startTestServer({ store, agencies: { test: testAgency } });
    api = server.api;
  });
  after(() => server[Symbol.asyncDispose]());

  async function created(path: string, body: object = {}) {
    const answer = await api.post(path, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }

  test('integrations are created, read, listed, changed and deleted', async (t) => {
    cites(
      t,
      'contract-3-integrations',
      'contract-3-integration-default-agency',
      'contract-3-integration-allowances-field',
      'contract-3-integration-keep-attachments',
      'contract-9-integration',
      'contract-3-statuses',
      'contract-3-times',
    );
    const made = await created('/v2/integrations', { name: 'Shop' });
    const { apiIntegrationId, createdAt, updatedAt, ...rest } = made;
    assert.deepEqual(rest, {
      name: 'Shop',
      agency: 'demo',
      defaultAgent: 'Concierge',
      textOnly: false,
      allowances: null,
      onDisconnect: 'continue',
      maxRunSeconds: 900,
      maxRunsPerMember: null,
      keepAttachments: true,
      model: null,
      fileAccess: 'chat',
      memberFolder: '/app/mnt/members/{consumerId}',
      quotaBytes: null,
      memberQuotaBytes: null,
      clientTools: false,
      callerInstructions: false,
      autoRegister: false,
      compatibleApis: ['openai', 'ai-sdk', 'ag-ui', 'mcp', 'agency-swarm'],
    });
    for (const time of [createdAt, updatedAt]) assert.match(time, ISO_TIME);
    const path = `/v2/integrations/${apiIntegrationId}`;
    assert.deepEqual((await api.get(path)).body, made);
    assert.deepEqual((await api.get('/v2/integrations')).body.items[0], made);

    const changed = await api.patch(path, { agency: 'test', allowances: MONTHLY });
    assert.equal(changed.status, 200);
    assert.deepEqual(
      { ...changed.body, updatedAt },
      { ...made, agency: 'test', defaultAgent: 'Clerk', allowances: MONTHLY },
      'what is not given keeps its value; the default agent is one of the agency',
    );
    for (const fields of [
      { defaultAgent: 'Writer' },
      { keepAttachments: false },
      { keepAttachments: true },
      { callerInstructions: true, autoRegister: true },
      { callerInstructions: false },
      { compatibleApis: [] },
      { compatibleApis: ['openai', 'mcp'] },
    ]) {
      const patched = (await api.patch(path, fields)).body;
      assert.deepEqual({ ...patched, ...fields }, patched);
      const later = (await api.patch(path, { name: 'Other' })).body;
      assert.deepEqual({ ...later, ...fields }, later, 'a later change of another field keeps it');
    }
    await refused(api.patch(path, { keepAttachments: null }), 400, 'invalid_request', /keepAttachments/);
    for (const compatibleApis of [['other'], ['mcp', 'mcp'], 'mcp', null]) {
      await refused(api.patch(path, { compatibleApis }), 400, 'invalid_request', /compatibleApis/);
    }
    assert.deepEqual((await api.patch(path, { compatibleApis: ['mcp', 'openai'] })).body.compatibleApis, [
      'openai',
      'mcp',
    ]);
    assert.equal((await created('/v2/integrations', { keepAttachments: false })).keepAttachments, false);

    const gone = await api.delete(path);
    assert.deepEqual([gone.status, gone.body], [204, '']);
    await refused(api.get(path), 404, 'integration_not_found');
    await refused(api.delete(path), 404, 'integration_not_found');
  });

  test('a PATCH replaces allowances whole; null switches them off', async (t) => {
    cites(t, 'contract-3-integration-allowances', 'contract-9-integration');
    const { apiIntegrationId: id } = await created('/v2/integrations', { allowances: MONTHLY });
    const path = `/v2/integrations/${id}`;
    const change = (allowances: unknown) => api.patch(path, { allowances });
    const daily = { unit: 'runs', limit: 0, period: 'day' };
    assert.deepEqual((await change(daily)).body.allowances, daily);
    const incomplete = [{ limit: 5 }, { unit: 'runs', limit: 5 }];
    const wrong = [{ extra: 1 }, { limit: -1 }, { limit: 1.5 }, { unit: 'words' }, { period: 'year' }];
    for (const value of [...incomplete, ...wrong.map((fields) => ({ ...daily, ...fields })), 5, 'off']) {
      await refused(change(value), 400, 'invalid_request', /allowances/);
    }
    assert.deepEqual((await api.get(path)).body.allowances, daily);
    const hi = { apiIntegrationId: id, message: 'Hi' };
    await refused(api.post('/get_completion_v2', hi), 400, 'missing_allowance_attribution');
    assert.equal((await change(null)).body.allowances, null);
    const reader = await api.complete({ apiIntegrationId: id });
    assert.equal(reader.status, 200, 'off again');
    await reader.whole();
  });

  test('an id may be chosen by its pattern and is never free again', async (t) => {
    cites(t, 'contract-9-integration-id', 'contract-8-409-integration-exists');
    const longest = `a${'-_0Z'.repeat(15)}abc`;
    assert.equal(longest.length, 64);
    for (const id of ['a', '0', 'A-b_C', longest]) {
      const made = await created('/v2/integrations', { apiIntegrationId: id });
      assert.deepEqual([made.apiIntegrationId, made.name], [id, id], 'without a name it shows its id');
      await refused(api.post('/v2/integrations', { apiIntegrationId: id }), 409, 'integration_exists');
      assert.equal((await api.delete(`/v2/integrations/${id}`)).status, 204);
      await refused(api.post('/v2/integrations', { apiIntegrationId: id }), 409, 'integration_exists');
    }
    for (const id of ['', '-a', '_a', 'a b', 'a.b', 'é', 'a/b', 'a\n', `${longest}x`, null, 5]) {
      await refused(api.post('/v2/integrations', { apiIntegrationId: id }), 400, 'invalid_request', /apiIntegrationId/);
    }
    const other = api.as((await created('/v2/owners', { email: 'id@example.com' })).apiKey);
    await refused(other.post('/v2/integrations', { apiIntegrationId: 'demo' }), 409, 'integration_exists');
  });

  test('integration ids are unique regardless of case; lookups are exact', async (t) => {
    cites(t, 'contract-9-integration-id-case');
    await created('/v2/integrations', { apiIntegrationId: 'Mixed-Case' });
    for (const apiIntegrationId of ['mixed-case', 'MIXED-CASE', 'mIXED-cASE']) {
      const again = api.post('/v2/integrations', { apiIntegrationId });
      await refused(again, 409, 'integration_exists', /upper and lower case/);
      await refused(api.get(`/v2/integrations/${apiIntegrationId}`), 404, 'integration_not_found');
    }
    assert.equal((await api.delete('/v2/integrations/Mixed-Case')).status, 204);
    await refused(api.post('/v2/integrations', { apiIntegrationId: 'mixed-case' }), 409, 'integration_exists');
    for (let round = 0; round < 5; round += 1) {
      const ids = [`race-${round}`, `Race-${round}`, `RACE-${round}`, `rAcE-${round}`];
      const answers = await Promise.all(
        ids.map((apiIntegrationId) => api.post('/v2/integrations', { apiIntegrationId })),
      );
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409, 409]);
    }
  });

  test('an agency or an entry point that is not there is refused, and named', async (t) => {
    cites(t, 'contract-8-400-unknown-agency');
    await refused(api.post('/v2/integrations', { agency: 'nowhere' }), 400, 'unknown_agency');
    await refused(api.patch('/v2/integrations/demo', { agency: 'nowhere' }), 400, 'unknown_agency');
    await refused(api.patch('/v2/integrations/demo', { defaultAgent: 'Clerk' }), 400, 'unknown_agent', /`Concierge`/);
    assert.equal((await api.get('/v2/integrations/demo')).body.agency, 'demo');
  });

  test('refuses a model that is not `provider/model`; null removes the model', async () => {
    const path = '/v2/integrations/demo';
    const form = /^`model` must be `provider\/model`, such as `openai\/gpt-5-mini`\.$/;
    // `ollama` needs no key, so only the id's form is wrong.
    for (const model of ['', 'ollama', 'ollama/', '/m', 'ollama/a\u0000b', 'ollama/a b']) {
      await refused(api.patch(path, { model }), 400, 'invalid_request', form);
      await refused(api.post('/v2/integrations', { model }), 400, 'invalid_request', form);
    }
    const long = `ollama/${'m'.repeat(194)}`;
    await refused(
      api.patch(path, { model: long }),
      400,
      'invalid_request',
      /^`model` must have at most 200 characters\.$/,
    );
    assert.equal((await api.patch(path, { model: long.slice(0, 200) })).status, 200);
    assert.equal((await api.patch(path, { model: null })).body.model, null);
  });

  test('registers a member with 201, changes it with 200, keeps omitted fields', async (t) => {
    cites(
      t,
      'contract-3-member-put',
      'contract-3-member-kept-fields',
      'contract-3-member-active',
      'contract-9-member',
      'contract-3-statuses',
    );
    const { apiIntegrationId: id } = await created('/v2/integrations', { allowances: MONTHLY });
    const path = `/v2/integrations/${id}/members/user-42`;
    const first = await api.put(path, {});
    assert.equal(first.status, 201);
    const now = new Date();
    const month = (plus: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + plus, 1)).toISOString();
    const { createdAt, updatedAt, ...shown } = first.body;
    assert.deepEqual(shown, {
      consumerId: 'user-42',
      name: null,
      active: true,
      metadata: {},
      folder: '/app/mnt/members/user-42',
      ownLimit: null,
      allowance: {
        unit: 'tokens',
        limit: 100_000,
        used: 0,
        reserved: 0,
        remaining: 100_000,
        period: 'month',
        periodStart: month(0),
        resetAt: month(1),
        exhausted: false,
      },
    });
    assert.match(createdAt, ISO_TIME);
    assert.match(updatedAt, ISO_TIME);
    const all = { name: 'Ann', active: false, metadata: { plan: { tier: ['gold', null] } }, allowance: { limit: 5 } };
    const second = await api.put(path, all);
    assert.equal(second.status, 200);
    const { name, active, metadata, allowance } = all;
    for (const kept of [{}, { name }, { active }, { metadata }, { allowance }]) {
      const { status, body } = await api.put(path, kept);
      assert.equal(status, 200);
      assert.deepEqual([body.name, body.active, body.metadata, body.ownLimit], ['Ann', false, metadata, 5]);
      assert.equal(body.createdAt, createdAt);
    }
    assert.equal((await api.put(path, { name: null })).body.name, null);
  });

  test("ownLimit is the member's own limit; null uses the integration's", async (t) => {
    cites(t, 'contract-3-member-limit');
    const { apiIntegrationId: id } = await created('/v2/integrations', { allowances: MONTHLY });
    const path = `/v2/integrations/${id}/members/ann`;
    const put = async (body: object) => (await api.put(path, body)).body;
    const limits = (member: { ownLimit: number | null; allowance: { limit: number } | null }) => [
      member.ownLimit,
      member.allowance?.limit ?? null,
    ];
    assert.deepEqual(limits(await put({ allowance: { limit: 7 } })), [7, 7]);
    assert.deepEqual(limits(await put({ allowance: { limit: 0 } })), [0, 0]);
    assert.equal((await put({})).allowance.exhausted, true);
    assert.deepEqual(limits(await put({ allowance: null })), [null, 100_000]);
    for (const wrong of [{}, { limit: null }, { limit: '7' }, { limit: -1 }, { limit: 7, unit: 'runs' }, 7]) {
      await refused(api.put(path, { allowance: wrong }), 400, 'invalid_request', /allowance/);
    }
    await put({ allowance: { limit: 9 } });
    await api.patch(`/v2/integrations/${id}`, { allowances: null });
    assert.deepEqual(limits((await api.get(path)).body), [9, null], 'null while allowances are off');
  });

  test('members are read, listed and deleted; their usage stays', async (t) => {
    cites(t, 'contract-3-member-reads');
    const { apiIntegrationId: id } = await created('/v2/integrations', { allowances: MONTHLY });
    const path = `/v2/integrations/${id}/members`;
    await refused(api.get(`${path}/ann`), 404, 'member_not_found');
    await refused(api.delete(`${path}/ann`), 404, 'member_not_found');
    for (const name of ['ann', 'bob']) assert.equal((await api.put(`${path}/${name}`, {})).status, 201);
    const reader = await api.complete({ apiIntegrationId: id, consumerId: 'ann', usageRequestId: 'u1' });
    await reader.whole();
    const { allowance } = (await api.get(`${path}/ann`)).body;
    assert.ok(allowance.used > 0);
    const listed = (await api.get(path)).body.items;
    assert.deepEqual(pickColumn(listed, 'consumerId'), ['bob', 'ann']);
    assert.deepEqual(listed[1].allowance, allowance);
    const withBody = api.call('DELETE', `${path}/ann`, { erase: true });
    await refused(withBody, 400, 'invalid_request', /^`erase` is not a known field: .* `\?erase=true`\.$/);
    assert.equal((await api.get(`${path}/ann`)).status, 200, 'not deleted');
    const gone = await api.call('DELETE', `${path}/ann`, {});
    assert.deepEqual([gone.status, gone.body], [204, '']);
    await refused(api.get(`${path}/ann`), 404, 'member_not_found');
    assert.equal((await api.get(`/v2/integrations/${id}/usage?usageRequestId=u1`)).body.items.length, 1);
    assert.equal((await api.put(`${path}/ann`, {})).status, 201);
    assert.deepEqual((await api.get(`${path}/ann`)).body.allowance, allowance);
  });

  test('a key is shown once, and listed after its revocation', async (t) => {
    cites(
      t,
      'contract-3-api-keys',
      'contract-3-keys-once',
      'contract-9-key',
      'contract-8-404-key-not-found',
      'contract-3-statuses',
      'contract-3-times',
    );
    const expiresAt = '2099-01-01T02:00:00+02:00';
    const { apiKey, ...key } = await created('/v2/api_keys', { name: 'backend', expiresAt });
    const { keyId, createdAt, ...rest } = key;
    assert.deepEqual(rest, {
      name: 'backend',
      role: 'manager',
      integrations: null,
      suffix: apiKey.slice(-6),
      createdBy: { kind: 'key', id: null, name: 'RUNWIRE_API_KEY' },
      expiresAt: '2099-01-01T00:00:00.000Z',
      lastUsedAt: null,
      revokedAt: null,
    });
    assert.match(createdAt, ISO_TIME);
    const listed = async () =>
      (await api.get('/v2/api_keys')).body.items.find((one: typeof key) => one.keyId === keyId);
    assert.deepEqual(await listed(), key);
    assert.ok(!JSON.stringify((await api.get('/v2/api_keys')).body).includes(apiKey));
    assert.equal((await api.as(apiKey).get('/v2/me')).status, 200);
    while ((await listed()).lastUsedAt === null);
    assert.match((await listed()).lastUsedAt, ISO_TIME);
    assert.equal((await api.delete(`/v2/api_keys/${keyId}`)).status, 204);
    const { revokedAt } = await listed();
    assert.match(revokedAt, ISO_TIME);
    assert.equal((await api.delete(`/v2/api_keys/${keyId}`)).status, 204, 'again changes nothing');
    assert.equal((await listed()).revokedAt, revokedAt);
    await refused(api.delete('/v2/api_keys/key_unknown'), 404, 'key_not_found');
    const texts = ['2020-01-01T00:00:00Z', '2098-12-31T23:59:60Z', '2099-01-01', 'tomorrow'];
    for (const wrong of [...texts, 4_070_908_800, null]) {
      await refused(api.post('/v2/api_keys', { expiresAt: wrong }), 400, 'invalid_request', /expiresAt/);
    }
  });

  test('a new owner gets a key once, and cannot revoke the last one', async (t) => {
    cites(
      t,
      'contract-3-owners',
      'contract-3-owners-shape',
      'contract-3-owners-key-once',
      'contract-3-owners-setup-link',
      'contract-8-409-owner-exists',
      'contract-8-409-last-key',
      'contract-8-404-key-not-found',
    );
    const { ownerId, apiKey, setupLink, ...rest } = await created('/v2/owners', {
      email: 'Ann@Example.com',
      name: 'Ann',
    });
    assert.deepEqual(rest, { email: 'ann@example.com' });
    assert.ok(setupLink.startsWith(`${server.url}/console/#set_up=`), setupLink);
    await refused(api.post('/v2/owners', { email: 'ann@EXAMPLE.com' }), 409, 'owner_exists');
    const list = (await api.get('/v2/owners')).body;
    assert.ok(!JSON.stringify(list).includes(apiKey));
    const { createdAt, ...shown } = list.items.find((owner: { ownerId: string }) => owner.ownerId === ownerId);
    assert.deepEqual(shown, { ownerId, email: 'ann@example.com', name: 'Ann', administrator: false });
    const ann = api.as(apiKey);
    const me = (await ann.get('/v2/me')).body;
    assert.deepEqual([me.ownerId, me.administrator, me.name], [ownerId, false, 'Ann']);
    await refused(ann.delete(`/v2/api_keys/${me.key.keyId}`), 409, 'last_key');
    const second = (await ann.post('/v2/api_keys', {})).body;
    await refused(api.delete(`/v2/api_keys/${second.keyId}`), 404, 'key_not_found', /no API key with this id/);
    assert.equal((await ann.delete(`/v2/api_keys/${me.key.keyId}`)).status, 204);
    await refused(ann.get('/v2/me'), 401, 'invalid_api_key');
    await refused(ann.as(second.apiKey).delete(`/v2/api_keys/${second.keyId}`), 409, 'last_key');
    for (const wrong of [{}, { email: 'ann' }, { email: null }, { email: 5 }, { email: '' }]) {
      await refused(api.post('/v2/owners', wrong), 400, 'invalid_request', /email/);
    }
  });

  test('me returns the owner and the id of the key', async (t) => {
    cites(t, 'contract-3-me', 'contract-3-key-good', 'contract-9-me');
    const { ownerId, ...opaque } = (await api.get('/v2/me')).body;
    assert.deepEqual(opaque, {
      email: null,
      name: null,
      administrator: true,
      person: null,
      key: { keyId: null, name: 'RUNWIRE_API_KEY', expiresAt: null, role: 'manager', integrations: null },
    });
    const expiresAt = '2099-01-01T00:00:00.000Z';
    const { apiKey, keyId } = await created('/v2/api_keys', { name: 'mine', expiresAt });
    assert.deepEqual((await api.as(apiKey).get('/v2/me')).body, {
      ownerId,
      ...opaque,
      key: { keyId, name: 'mine', expiresAt, role: 'manager', integrations: null },
    });
    await refused(api.as('not-a-key').get('/v2/me'), 401, 'invalid_api_key');
  });

  test('owners change their own name and e-mail', async (t) => {
    cites(t, 'clients-18-me');
    const { apiKey, ownerId } = await created('/v2/owners', { email: 'dora@example.com', name: 'Dora' });
    const dora = api.as(apiKey);
    const shown = async (answer: ReturnType<ApiClient['get']>) => {
      const { status, body } = await answer;
      return [status, body.ownerId, body.name, body.email, body.key.name];
    };
    assert.deepEqual(await shown(dora.patch('/v2/me', {})), [200, ownerId, 'Dora', 'dora@example.com', 'first']);
    const changed = [200, ownerId, 'D.', 'd@example.com', 'first'];
    assert.deepEqual(await shown(dora.patch('/v2/me', { name: 'D.', email: 'D@Example.com' })), changed);
    assert.deepEqual(await shown(dora.get('/v2/me')), changed);
    assert.deepEqual(await shown(dora.patch('/v2/me', { name: null })), [200, ownerId, null, 'd@example.com', 'first']);
    await created('/v2/owners', { email: 'dora@example.com' });
    await refused(dora.patch('/v2/me', { email: 'DORA@example.com' }), 409, 'owner_exists');
    assert.equal((await dora.patch('/v2/me', { email: 'd@example.com' })).status, 200, 'the own e-mail again');
    for (const wrong of [{ email: null }, { email: 'd' }, { name: '' }, { administrator: true }]) {
      await refused(dora.patch('/v2/me', wrong), 400, 'invalid_request');
    }
  });

  test('the administrator deletes owners without integrations', async (t) => {
    cites(t, 'clients-18-delete-owner', 'contract-8-409-owner-in-use', 'contract-8-404-owner-not-found');
    const { apiKey, ownerId } = await created('/v2/owners', { email: 'eve@example.com' });
    const eve = api.as(apiKey);
    const path = `/v2/owners/${ownerId}`;
    await refused(eve.delete(path), 403, 'administrator_only');
    await refused(api.delete('/v2/owners/own_unknown'), 404, 'owner_not_found');
    const own = (await api.get('/v2/me')).body.ownerId;
    await refused(api.delete(`/v2/owners/${own}`), 409, 'owner_in_use', /cannot delete yourself/);
    const { apiIntegrationId } = (await eve.post('/v2/integrations', {})).body;
    await refused(api.delete(path), 409, 'owner_in_use', /still has integrations/);
    assert.equal((await eve.delete(`/v2/integrations/${apiIntegrationId}`)).status, 204);
    const gone = await api.delete(path);
    assert.deepEqual([gone.status, gone.body], [204, '']);
    await refused(eve.get('/v2/me'), 401, 'invalid_api_key');
    await refused(api.delete(path), 404, 'owner_not_found');
    assert.ok(!pickColumn((await api.get('/v2/owners')).body.items, 'ownerId').includes(ownerId));
    await created('/v2/owners', { email: 'eve@example.com' });
  });

  test('agencies are listed with their agents and entry points', async (t) => {
    cites(
      t,
      'contract-3-agencies',
      'contract-3-entry-points',
      'contract-3-agency-long-chats',
      'contract-9-agency',
      'agents-29-in-process',
    );
    const { items, nextCursor } = (await api.get('/v2/agencies')).body;
    assert.equal(nextCursor, null);
    const demo = items.find((agency: { agency: string }) => agency.agency === 'demo');
    const [{ description, ...agent }] = demo.agents;
    assert.ok(description.length > 0);
    assert.deepEqual(agent, {
      name: 'Concierge',
      model: 'offline/demo',
      fallback: [],
      tools: ['clock', 'calculate', 'list_files', 'read_file', 'search_files', 'show_file'],
      approval: [],
      editable: [],
      remember: [],
      conditional: [],
      sandbox: false,
      starters: ['What time is it in Athens?', 'Plan 3 days in Athens for 80 euros a day.'],
    });
    assert.deepEqual(pickColumn(demo.agents, 'name'), ['Concierge', 'Guide', 'Accountant']);
    const { version, loadedAt, ...listed } = demo;
    assert.match(version, /^[0-9a-f]{16}$/);
    assert.ok(Date.parse(loadedAt) <= Date.now());
    assert.deepEqual(
      { ...listed, agents: null },
      {
        agency: 'demo',
        name: 'Demo',
        defaultAgent: 'Concierge',
        entryPoints: ['Concierge'],
        agents: null,
        flows: [
          { from: 'Concierge', to: 'Guide', kind: 'delegate', lasts: null },
          { from: 'Concierge', to: 'Accountant', kind: 'delegate', lasts: null },
          { from: 'Concierge', to: 'Guide', kind: 'handoff', lasts: null },
        ],
        source: 'bundled',
        longChats: 'summarize',
        summaryModel: null,
        mcp: [],
        process: { state: 'none', pid: null, memoryBytes: null, restarts: 0, lastFault: null },
        error: null,
      },
    );
    const other = items.find((agency: { agency: string }) => agency.agency === 'test');
    assert.deepEqual(other.entryPoints, ['Clerk', 'Writer']);
    assert.equal(other.process.state, 'none', 'code of this process');
    assert.deepEqual(other.agents[0].tools, ['echo', 'break']);
  });
}
