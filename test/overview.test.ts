import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { refused } from './support/refused.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const HOUR_MS = 3_600_000;
const prices = { currency: 'EUR', models: { 'scripted/model': { input: 2.5, cachedInput: 0.25, output: 10 } } };
const env = { RUNWIRE_PRICES: JSON.stringify(prices) };

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, env });

  test('shows the last hours of one integration, the hours before, and what needs a person', async (t) => {
    cites(t, 'contract-27-overview', 'contract-27-overview-parts', 'contract-27-overview-failures');
    const integration = await rig.metered({ unit: 'runs', limit: 5, period: 'lifetime' }, { agency: 'test' });
    const other = await rig.integration();
    let requests = 0;
    const body = () => ({ apiIntegrationId: integration, consumerId: 'ann', usageRequestId: `r${++requests}` });
    for (let n = 0; n < 2; n += 1) await rig.answer(body());
    const failed: string[] = [];
    for (const message of ['It broke.', 'It broke.', 'Something else.']) {
      const held = await rig.hold(body());
      await held.call.text('It begins');
      await held.call.fail('model_error', message);
      await held.reader.whole();
      failed.push(held.runId);
    }
    await rig.answer({ apiIntegrationId: other });
    const read = async (query: string) => {
      const { status, body: found } = await rig.api.get(`/v2/overview${query}`);
      assert.equal(status, 200, JSON.stringify(found));
      return found;
    };
    const one = await read(`?integration=${integration}`);
    assert.deepEqual(
      [one.measures.runs, one.measures.failed, one.measures.cancelled, one.before.runs, one.before.durationMs],
      [5, 3, 0, 0, null],
    );
    const costs = (await rig.api.get(`/v2/integrations/${integration}/usage/summary?groupBy=day`)).body.items[0];
    assert.deepEqual(one.measures.cost, costs.cost);
    assert.deepEqual(one.measures.tokens, costs.usage.total_tokens);
    assert.deepEqual([one.measures.durationMs, one.measures.firstTokenMs], [costs.durationMs, costs.firstTokenMs]);
    assert.ok(Date.parse(one.from) % HOUR_MS === 0 && Date.parse(one.to) - Date.parse(one.from) <= 24 * HOUR_MS);
    assert.deepEqual(
      one.failures.map(({ code, count, runId }: Record<string, unknown>) => [code, count, runId]),
      [
        ['model_error', 2, failed[1]],
        ['model_error', 1, failed[2]],
      ],
    );
    assert.deepEqual(one.exhaustedMembers, [{ apiIntegrationId: integration, consumerId: 'ann' }]);
    assert.deepEqual([one.brokenAgencies, one.failedMcpServers, one.disabledWebhooks], [[], [], []]);

    // Yesterday's runs belong to the hours before.
    await askStore(
      rig.server.dataDir,
      `update usage_hours set hour = hour - 24 where integration_id = '${integration}' and error_code = ''`,
    );
    const moved = await read(`?integration=${integration}&hours=24`);
    assert.deepEqual([moved.measures.runs, moved.before.runs, moved.before.failed], [3, 2, 0]);
    assert.equal((await read(`?integration=${integration}&hours=48`)).measures.runs, 5);

    const held = await rig.hold({ apiIntegrationId: other });
    const all = await read('');
    assert.equal(all.measures.runs, 5, 'three failed runs, one of the other integration, and an active one');
    assert.equal(all.activeRuns, 1);
    assert.equal((await read(`?integration=${integration}`)).activeRuns, 0);
    await held.finish('Hi');
  });

  test('counts open questions, and lists keys that expire and endpoints that were disabled', async (t) => {
    cites(t, 'contract-27-overview-parts', 'contract-27-overview-bounds');
    const { api, apiIntegrationId } = await rig.owner('overview@example.com');
    const expiresAt = new Date(Date.now() + 24 * HOUR_MS).toISOString();
    const { keyId } = (await api.post('/v2/api_keys', { name: 'soon', expiresAt })).body;
    await api.post('/v2/api_keys', { name: 'later', expiresAt: new Date(Date.now() + 900 * HOUR_MS).toISOString() });
    const { endpointId } = (
      await api.post(`/v2/integrations/${apiIntegrationId}/webhooks`, {
        url: 'https://example.com/hook',
        events: ['*'],
      })
    ).body;
    await askStore(
      rig.server.dataDir,
      `update webhook_endpoints set active = 0, disabled_reason = 'failing' where endpoint_id = '${endpointId}'`,
    );
    const found = (await api.get('/v2/overview')).body;
    assert.deepEqual(found.expiringKeys, [{ keyId, name: 'soon', expiresAt }]);
    assert.deepEqual(found.disabledWebhooks, [{ apiIntegrationId, endpointId, reason: 'failing' }]);
    assert.deepEqual([found.openQuestions, found.measures.runs, found.measures.cost], [0, 0, null]);

    const integration = await rig.integration({ clientTools: true });
    const tool = { name: 'locate', description: 'Finds it.', inputSchema: { type: 'object' } };
    const held = await rig.hold({ apiIntegrationId: integration, clientTools: [tool] });
    await held.call.toolCall('call_1', 'locate', '{}');
    await held.call.end();
    await held.reader.whole();
    for (const query of ['', `?integration=${integration}`])
      assert.equal((await rig.api.get(`/v2/overview${query}`)).body.openQuestions, 1, query);
    await rig.api.delete(`/v2/integrations/${integration}`);
    assert.equal((await rig.api.get('/v2/overview')).body.openQuestions, 0);
  });

  test('refuses integrations of others, and hours outside of 1 to 168', async (t) => {
    cites(t, 'contract-27-overview');
    const { api } = await rig.owner('other@example.com');
    const integration = await rig.integration();
    await refused(api.get(`/v2/overview?integration=${integration}`), 403, 'integration_forbidden');
    await refused(api.get('/v2/overview?integration=nothing'), 404, 'integration_not_found');
    for (const hours of ['0', '169', 'x'])
      await refused(rig.api.get(`/v2/overview?hours=${hours}`), 400, 'invalid_request');
  });
}
