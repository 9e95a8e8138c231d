import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { STORES, type StoreName, startTestServer, testAgency } from '@runwire/test-kit';
import { readConfig } from '../packages/server/src/config/read-config.ts';
import { StartRefused } from '../packages/server/src/domain/start-refused.ts';
import { cites } from '../requirements/cite.ts';
import { getFolder } from './support/cli-process.ts';
import { pickColumn } from './support/columns.ts';
import { type HeldRun, refusal, ScriptedServer } from './support/scripted-server.ts';

/** Half a credit per token of input, a quarter if it was cached, two per token of output. */
const TABLE = { 'scripted/model': { input: 500_000, cachedInput: 250_000, output: 2_000_000 } };
const env = { RUNWIRE_PRICES: JSON.stringify(TABLE) };
const creditsFor = (usage: { input_tokens: number; cached_tokens: number; output_tokens: number }) =>
  Math.ceil((usage.input_tokens - usage.cached_tokens) * 0.5 + usage.cached_tokens * 0.25 + usage.output_tokens * 2);

const UNITS = ['runs', 'tokens', 'credits'] as const;
const limited = (unit: string, limit = 1_000_000) => ({ unit, limit, period: 'month' });

test('the price table is read strictly, from JSON or from a file', (t) => {
  cites(t, 'contract-6-credit-prices', 'contract-27-currency', 'contract-1-wrong-settings');
  const file = join(getFolder(t), 'prices.json');
  const good = '{"openai/gpt-5":{"input":1.25,"cachedInput":0.125,"output":10}}';
  writeFileSync(file, good);
  const expected = new Map([['openai/gpt-5', { input: 1_250_000, cachedInput: 125_000, output: 10_000_000 }]]);
  for (const text of [good, file, ` ${good}`]) {
    assert.deepEqual(readConfig({ RUNWIRE_PRICES: text }).config.prices, { currency: null, models: expected });
  }
  assert.equal(readConfig({ RUNWIRE_PRICES: '' }).config.prices.models.size, 0);
  const euros = readConfig({ RUNWIRE_PRICES: `{"currency":"EUR","models":${good}}` }).config.prices;
  assert.deepEqual(euros, { currency: 'EUR', models: expected });
  const entry = (fields: string) => `{"a/b":{${fields}}}`;
  const broken = join(getFolder(t), 'broken.json');
  writeFileSync(broken, '[]');
  for (const wrong of [
    '{',
    '{"a/b":1}',
    '{"a/b":null}',
    '{"b":{"input":1,"cachedInput":1,"output":1}}',
    entry('"input":1,"output":1'),
    entry('"input":1,"cachedInput":1,"output":"1"'),
    entry('"input":-1,"cachedInput":1,"output":1'),
    entry('"input":1e10,"cachedInput":1,"output":1'),
    entry('"input":0.0000001,"cachedInput":1,"output":1'),
    entry('"input":1,"cachedInput":1,"output":1,"reasoning":1'),
    entry('"input":1,"input":2,"cachedInput":1,"output":1'),
    `{"currency":"euro","models":${good}}`,
    `{"models":${good}}`,
    '{"currency":"EUR"}',
    `{"currency":"EUR","models":${good},"rate":1}`,
    '/nowhere/prices.json',
    broken,
  ]) {
    assert.throws(
      () => readConfig({ RUNWIRE_PRICES: wrong }),
      (error) => {
        assert.ok(error instanceof StartRefused, `${wrong}: ${error}`);
        assert.match(error.message, /^RUNWIRE_PRICES [^\n]+\.$/);
        assert.ok(!/[.!?] [A-Z]/.test(error.message), `more than one sentence: ${error.message}`);
        return true;
      },
      wrong,
    );
  }
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, env, limits: { stepsPerRun: 1 } });

  test("meters credits: reserves at the entry agent's price, settles by model", async (t) => {
    cites(
      t,
      'contract-6-allowance-credits',
      'contract-6-reserve-credits',
      'contract-6-credit-prices',
      'contract-6-refuse-and-settle',
    );
    const integration = await rig.metered(limited('credits', 20));
    const body = { apiIntegrationId: integration, consumerId: 'ann', message: 'x'.repeat(21) };
    const first = await rig.hold({ ...body, usageRequestId: 'u1' });
    // 21 bytes are 6 tokens. With 1 000 for instructions and answer, at half a credit each, that is 503 credits.
    const held = await rig.allowance(integration);
    assert.deepEqual([held.unit, held.used, held.reserved, held.remaining], ['credits', 0, 503, 0]);
    await first.finish('Hi');
    // (10 − 2) · 0.5 + 2 · 0.25 + 5 · 2 = 14.5
    const settled = await rig.allowance(integration);
    assert.deepEqual([settled.used, settled.reserved], [15, 0]);
    await rig.answer({ ...body, usageRequestId: 'u2' });
    assert.equal((await rig.allowance(integration)).used, 30);
    const { status, body: refused } = await refusal(await rig.api.complete({ ...body, usageRequestId: 'u3' }));
    assert.deepEqual([status, refused.code], [429, 'consumer_allowance_exhausted']);
    const { items } = (await rig.api.get(`/v2/integrations/${integration}/usage`)).body;
    assert.deepEqual(pickColumn(items, 'charged'), [
      { unit: 'credits', amount: 15 },
      { unit: 'credits', amount: 15 },
    ]);
    for (const groupBy of ['consumer', 'model']) {
      const { body: summary } = await rig.api.get(`/v2/integrations/${integration}/usage/summary?groupBy=${groupBy}`);
      assert.deepEqual(summary.items[0].charged, { runs: 2, tokens: 30, credits: 30 }, groupBy);
    }
  });

  test('counts earlier runs in credits after a switch to credits', async (t) => {
    cites(t, 'contract-6-charged-while-off', 'contract-6-allowance-credits');
    const integration = await rig.integration();
    await rig.member(integration, 'ann');
    await rig.answer({ apiIntegrationId: integration, consumerId: 'ann' });
    await rig.api.patch(`/v2/integrations/${integration}`, { allowances: limited('credits') });
    assert.equal((await rig.allowance(integration)).used, 15);
  });

  /** Every kind of end, with true if it is charged. */
  const ENDS: readonly (readonly [
    string,
    'charged' | 'free',
    (held: HeldRun, integration: string) => Promise<unknown>,
  ])[] = [
    ['completed', 'charged', async ({ call }) => call.end()],
    ['model_error', 'charged', async ({ call }) => call.fail('model_error', 'No.')],
    ['model_timeout', 'charged', async ({ call }) => call.fail('model_timeout', 'No.')],
    ['run_timeout', 'charged', async ({ call }) => call.fail('run_timeout', 'No.')],
    [
      'step_limit',
      'charged',
      async ({ call }) => {
        await call.toolCall('call_1', 'echo', '{}');
        await call.end();
      },
    ],
    [
      'cancelled',
      'charged',
      async ({ runId }, integration) => rig.api.post(`/v2/integrations/${integration}/runs/${runId}/cancel`),
    ],
    ['internal_error', 'free', async ({ call }) => call.fail('internal_error', 'Ours.')],
    ['attachment_unavailable', 'free', async ({ call }) => call.fail('attachment_unavailable', 'Gone.')],
  ];

  for (const [name, kind, end] of ENDS) {
    test(`settles an end by ${name} as ${kind} in every unit`, async (t) => {
      cites(
        t,
        'contract-6-charged-real',
        'contract-6-charged-runs',
        'contract-6-charged-zero',
        'contract-6-charged-cut-step',
      );
      for (const unit of UNITS) {
        const integration = await rig.metered(limited(unit), { agency: 'test' });
        const held = await rig.hold({ apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'u' });
        await held.call.text('Hello there');
        await held.reader.until(() => held.reader.text.includes('Hello there'));
        await end(held, integration);
        await held.reader.whole();
        const [record] = (await rig.api.get(`/v2/integrations/${integration}/usage`)).body.items;
        const run = (await rig.api.get(`/v2/integrations/${integration}/runs/${held.runId}`)).body;
        assert.equal(run.error?.code ?? run.status, name);
        assert.ok(record.usage.total_tokens > 0, 'the real tokens stand beside what was charged');
        const cost = { runs: 1, tokens: record.usage.total_tokens, credits: creditsFor(record.usage) };
        const amount = kind === 'free' ? 0 : cost[unit];
        assert.deepEqual(record.charged, { unit, amount }, unit);
        const { used, reserved } = await rig.allowance(integration);
        assert.deepEqual([used, reserved], [amount, 0], unit);
      }
    });
  }

  test('a run cancelled before its model answers is free in every unit', async (t) => {
    cites(t, 'contract-6-charged-not-accepted', 'contract-6-accepted');
    for (const unit of UNITS) {
      const integration = await rig.metered(limited(unit));
      const held = await rig.hold({ apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'u' });
      await rig.api.post(`/v2/integrations/${integration}/runs/${held.runId}/cancel`);
      const { used, reserved } = await rig.allowance(integration);
      assert.deepEqual([used, reserved], [0, 0], unit);
    }
  });

  test('refuses credits if a model has no price, and names the model', async (t) => {
    cites(t, 'contract-6-credit-prices', 'contract-1-wrong-settings');
    const dataDir = getFolder(t);
    const prices = (...models: string[]) => ({
      RUNWIRE_PRICES: JSON.stringify(
        Object.fromEntries(models.map((model) => [model, { input: 1, cachedInput: 1, output: 1 }])),
      ),
    });
    const agencies = {
      other: { ...testAgency, agents: testAgency.agents.map((a) => ({ ...a, model: 'other/model' })) },
    };
    {
      await using server = await startTestServer({ store, dataDir, agencies, env: prices('offline/demo') });
      const credits = { allowances: limited('credits') };
      for (const attempt of [
        server.api.post('/v2/integrations', { ...credits, agency: 'other' }),
        (async () => {
          assert.equal((await server.api.patch('/v2/integrations/demo', credits)).status, 200);
          return server.api.patch('/v2/integrations/demo', { agency: 'other', defaultAgent: 'Clerk' });
        })(),
      ]) {
        const { status, body } = await attempt;
        assert.deepEqual([status, body.code], [400, 'invalid_request']);
        assert.match(body.error, /RUNWIRE_PRICES .*`other\/model`/);
      }
      assert.equal((await server.api.get('/v2/integrations/demo')).body.agency, 'demo');
    }
    await assert.rejects(startTestServer({ store, dataDir, env: prices('scripted/model') }), (error) => {
      assert.ok(error instanceof StartRefused);
      assert.match(error.message, /^[^.\n]*`demo`[^.\n]*RUNWIRE_PRICES[^.\n]*`offline\/demo`[^.\n]*\.$/);
      return true;
    });
  });
}
