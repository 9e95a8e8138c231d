import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SCRIPTED_USAGE, STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { ISO_TIME, ScriptedServer, shownUsage } from './support/scripted-server.ts';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store });

  const records = async (integration: string, query = '') =>
    (await rig.api.get(`/v2/integrations/${integration}/usage${query}`)).body.items;

  test('keeps exactly one record per run, from its admission on', async (t) => {
    cites(
      t,
      'contract-6-usage-record-once',
      'contract-6-usage-record-tokens',
      'contract-6-usage-record',
      'contract-9-charged-running',
      'contract-9-usage',
      'spec-2.1-usage-request-id',
    );
    const integration = await rig.metered({ unit: 'tokens', limit: 1000, period: 'month' }, { agency: 'test' });
    const body = { apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'u1', chatId: 'c1' };
    const { reader, call, runId } = await rig.hold(body);
    const only = async () => {
      const [record, ...others] = await records(integration);
      assert.deepEqual(others, []);
      return record;
    };
    const admitted = await only();
    assert.deepEqual(
      [admitted.runId, admitted.status, admitted.charged, admitted.usage, admitted.byModel, admitted.completedAt],
      [runId, 'running', null, shownUsage(0), [], null],
    );
    await call.toolCall('call_1', 'echo', '{}');
    await call.end();
    const second = await rig.controller.nextCall();
    const running = await only();
    assert.deepEqual([running.status, running.charged, running.usage], ['running', null, shownUsage()]);
    await second.text('Done');
    await second.end({ ...SCRIPTED_USAGE, inputTokens: 100, outputTokens: 1, reasoningTokens: 1 });
    await reader.whole();

    const { periodStart, startedAt, completedAt, firstTokenMs, ...record } = await only();
    const now = new Date();
    assert.equal(periodStart, new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).toISOString());
    assert.match(startedAt, ISO_TIME);
    assert.match(completedAt, ISO_TIME);
    assert.equal(firstTokenMs, running.firstTokenMs, 'known since the first step');
    assert.ok(firstTokenMs >= 0);
    assert.deepEqual(record, {
      kind: 'run',
      usageRequestId: 'u1',
      consumerId: 'ann',
      chatId: 'c1',
      runId,
      agent: 'Clerk',
      status: 'completed',
      usage: {
        request_count: 2,
        input_tokens: 110,
        cached_tokens: 4,
        output_tokens: 6,
        reasoning_tokens: 1,
        total_tokens: 116,
      },
      cost: null,
      byModel: [{ model: 'scripted/model', input_tokens: 110, cached_tokens: 4, output_tokens: 6 }],
      charged: { unit: 'tokens', amount: 116 },
      rerun: false,
    });
  });

  test('every run has one record, however it ends', async (t) => {
    cites(t, 'contract-6-usage-record-once', 'contract-6-usage-record-tokens');
    const integration = await rig.metered({ unit: 'runs', limit: 9, period: 'day' });
    const of = (usageRequestId: string) => ({ apiIntegrationId: integration, consumerId: 'ann', usageRequestId });
    await rig.answer(of('completed'));
    const failed = await rig.hold(of('failed'));
    await failed.call.text('Half');
    await failed.call.fail('model_error', 'No.');
    await failed.reader.whole();
    const cancelled = await rig.hold(of('cancelled'));
    await rig.api.post(`/v2/integrations/${integration}/runs/${cancelled.runId}/cancel`);
    const replay = await rig.api.complete(of('completed'));
    await replay.whole();
    const kept = (await records(integration)).map((record: Record<string, unknown>) => [
      record.usageRequestId,
      record.status,
      record.charged,
    ]);
    const charged = (amount: number) => ({ unit: 'runs', amount });
    assert.deepEqual(kept, [
      ['cancelled', 'cancelled', charged(0)],
      ['failed', 'failed', charged(1)],
      ['completed', 'completed', charged(1)],
    ]);
    assert.deepEqual((await records(integration, '?usageRequestId=completed'))[0].usage, shownUsage());
  });

  test('charges nothing while allowances are off, and returns null', async (t) => {
    cites(t, 'contract-9-charged-off');
    const integration = await rig.integration();
    await rig.answer({ apiIntegrationId: integration });
    const [record] = await records(integration);
    assert.deepEqual(
      [record.charged, record.periodStart, record.usage, record.usageRequestId, record.consumerId],
      [null, null, shownUsage(), null, null],
    );
  });

  test('finds records by request id, member and time, page by page', async (t) => {
    cites(t, 'contract-3-usage', 'contract-9-newest-first', 'contract-8-400-invalid-cursor');
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-01-01T00:00:00.000Z') });
    const integration = await rig.integration();
    for (const member of ['ann', 'ben']) await rig.member(integration, member);
    for (const [n, consumerId] of ['ann', 'ben', 'ann', 'ben'].entries()) {
      t.mock.timers.setTime(Date.parse(`2030-01-0${n + 1}T00:00:00.000Z`));
      await rig.answer({ apiIntegrationId: integration, consumerId, usageRequestId: `u${n + 1}` });
    }
    const found = async (query: string) =>
      (await records(integration, query)).map((record: { usageRequestId: string }) => record.usageRequestId);
    assert.deepEqual(await found(''), ['u4', 'u3', 'u2', 'u1']);
    assert.deepEqual(await found('?usageRequestId=u2'), ['u2']);
    assert.deepEqual(await found('?usageRequestId=u9'), []);
    assert.deepEqual(await found('?consumerId=ann'), ['u3', 'u1']);
    const [from, to] = ['2030-01-02T00:00:00.000Z', '2030-01-04T00:00:00.000Z'];
    assert.deepEqual(await found(`?from=${from}&to=${to}`), ['u3', 'u2'], 'from ≤ admission < to');
    assert.deepEqual(await found(`?consumerId=ben&from=${from}`), ['u4', 'u2']);
    const { body: page } = await rig.api.get(`/v2/integrations/${integration}/usage?limit=3`);
    assert.equal(page.items.length, 3);
    assert.deepEqual(await found(`?limit=3&cursor=${page.nextCursor}`), ['u1']);
    const { status, body } = await rig.api.get(`/v2/integrations/${integration}/usage?cursor=nonsense`);
    assert.deepEqual([status, body.code], [400, 'invalid_cursor']);
  });
}
