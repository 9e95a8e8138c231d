import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SCRIPTED_USAGE, STORES, type StoreName, startTestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { getFolder } from './support/cli-process.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/** In euros per million tokens. */
const PRICE = { input: 2.5, cachedInput: 0.25, output: 10.000001 };
const env = { RUNWIRE_PRICES: JSON.stringify({ currency: 'EUR', models: { 'scripted/model': PRICE } }) };
const { inputTokens, cachedTokens, outputTokens } = SCRIPTED_USAGE;
const IN_MILLIONTHS =
  (inputTokens - cachedTokens) * PRICE.input + cachedTokens * PRICE.cachedInput + outputTokens * PRICE.output;
/** One model call. */
const EACH = { amount: Math.round(IN_MILLIONTHS) / 1_000_000, currency: 'EUR' };
/** Two calls in one run. It is rounded once. */
const BOTH = { amount: Math.round(2 * IN_MILLIONTHS) / 1_000_000, currency: 'EUR' };

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, env });

  test('runs, model steps, usage records and summaries have their cost', async (t) => {
    cites(t, 'contract-27-cost', 'contract-27-cost-null', 'contract-27-cost-tokens', 'contract-27-summary-cost');
    const integration = await rig.integration({ agency: 'test' });
    const below = `/v2/integrations/${integration}`;
    await rig.member(integration, 'ann');
    const get = async (path: string) => (await rig.api.get(`${below}/${path}`)).body;
    const costs = async (path: string) => (await get(path)).items.map(({ cost }: { cost: unknown }) => cost);
    const plain = await rig.answer({ apiIntegrationId: integration, consumerId: 'ann' });
    const held = await rig.hold({ apiIntegrationId: integration, consumerId: 'ann' });
    await held.call.toolCall('call_1', 'echo', '{}');
    await held.call.end();
    const second = await rig.controller.nextCall();
    assert.equal((await get(`runs/${held.runId}`)).cost, null, 'it has not ended');
    assert.deepEqual(await costs(`runs/${held.runId}/steps`), [null, EACH], 'the tool costs nothing');
    assert.deepEqual(await costs('usage/summary?groupBy=agent'), [EACH], 'of the run that has ended');
    await second.text('Done.');
    await second.end();
    await held.reader.whole();

    assert.deepEqual((await get(`runs/${plain.runId}`)).cost, EACH);
    assert.deepEqual(await costs(`runs/${plain.runId}/steps`), [EACH], 'the only step of a run has no row');
    assert.deepEqual((await get(`runs/${held.runId}`)).cost, BOTH);
    assert.deepEqual(await costs(`runs/${held.runId}/steps`), [EACH, null, EACH]);
    for (const list of ['runs', 'runs?texts=false', 'usage']) assert.deepEqual(await costs(list), [BOTH, EACH], list);
    const total = { amount: Number((EACH.amount + BOTH.amount).toFixed(6)), currency: 'EUR' };
    for (const groupBy of ['hour', 'day', 'consumer', 'agent', 'model'])
      assert.deepEqual(await costs(`usage/summary?groupBy=${groupBy}`), [total], groupBy);
    assert.match(
      await get('usage?format=csv'),
      new RegExp(
        `,firstTokenMs,cost,currency,rerun\r\n.*,${BOTH.amount},EUR,false\r\n.*,${EACH.amount},EUR,false\r\n$`,
      ),
    );

    const { chatId } = await get(`runs/${held.runId}`);
    const { clientToken } = (await rig.api.post(`${below}/client_tokens`, { consumerId: 'ann' })).body;
    const page = rig.api.as(clientToken);
    assert.equal((await page.get(`${below}/runs/${plain.runId}`)).body.cost, null);
    const { items } = (await page.get(`${below}/runs/${held.runId}/steps`)).body;
    assert.deepEqual(
      items.map(({ cost }: { cost: unknown }) => cost),
      [null, null, null],
    );
    assert.equal((await rig.api.delete(`${below}/chats/${chatId}`)).status, 204);
    assert.equal((await get(`runs/${held.runId}`)).cost, null);
    assert.deepEqual(await costs('usage'), [BOTH, EACH]);
  });

  test('later prices, another currency and a model without a price change no earlier cost', async (t) => {
    cites(t, 'contract-27-cost-fixed', 'contract-27-cost-null', 'contract-27-summary-cost');
    const dataDir = getFolder(t);
    const PATH = '/v2/integrations/demo';
    const price = { input: 3, cachedInput: 3, output: 3 };
    const runs: string[] = [];
    const tables = [
      { currency: 'EUR', models: { 'offline/demo': price } },
      { currency: 'USD', models: { 'offline/demo': { ...price, input: 4 } } },
      { currency: 'EUR', models: { 'other/model': price } },
      { 'offline/demo': price },
    ];
    for (const [at, table] of tables.entries()) {
      await using server = await startTestServer({ store, dataDir, env: { RUNWIRE_PRICES: JSON.stringify(table) } });
      const reader = await server.api.complete({ apiIntegrationId: 'demo', message: 'Hello' });
      await reader.whole();
      runs.push(String(reader.headers['x-run-id']));
      const get = async (path: string) => (await server.api.get(`${PATH}/${path}`)).body;
      const found = await Promise.all(runs.map((runId) => get(`runs/${runId}`)));
      const { input_tokens: input, output_tokens: output } = found[0].usage;
      const inEuros = { amount: (3 * input + 3 * output) / 1_000_000, currency: 'EUR' };
      const inDollars = { amount: (4 * input + 3 * output) / 1_000_000, currency: 'USD' };
      assert.deepEqual(
        found.map(({ cost }) => cost),
        [inEuros, inDollars, null, null].slice(0, at + 1),
      );
      const [summary] = (await get('usage/summary?groupBy=agent')).items;
      assert.deepEqual([summary.runs, summary.cost], [at + 1, at === 0 ? inEuros : null]);
    }
  });
}
