import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Model, type ModelOutput, SCRIPTED_USAGE, STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { pickColumn } from './support/columns.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';

const SPENT = SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens;
const tokens = (inputTokens: number, outputTokens: number) => ({ ...SCRIPTED_USAGE, inputTokens, outputTokens });

/** The shortest request of member `ann`. */
const ask = (apiIntegrationId: string, usageRequestId: string, more: object = {}) => ({
  apiIntegrationId,
  consumerId: 'ann',
  usageRequestId,
  ...more,
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store });

  const counts = async (integration: string, consumerId = 'ann') => {
    const { used, reserved, remaining, exhausted } = await rig.allowance(integration, consumerId);
    return { used, reserved, remaining, exhausted };
  };

  test('meters runs: reserves one, counts one, refuses if none is left', async (t) => {
    cites(
      t,
      'spec-1-metered',
      'spec-1-refused-consumer',
      'contract-6-allowance-units',
      'contract-6-reserve',
      'contract-6-refuse-and-settle',
      'contract-6-allowance-read-back',
      'contract-8-429-consumer-allowance-exhausted',
    );
    const integration = await rig.metered({ unit: 'runs', limit: 2, period: 'month' });
    const { reader, call } = await rig.hold(ask(integration, 'u1'));
    assert.deepEqual(await counts(integration), { used: 0, reserved: 1, remaining: 1, exhausted: false });
    await call.end(tokens(9000, 9000));
    await reader.whole();
    assert.deepEqual(await counts(integration), { used: 1, reserved: 0, remaining: 1, exhausted: false });
    await rig.answer(ask(integration, 'u2'));
    assert.deepEqual(await counts(integration), { used: 2, reserved: 0, remaining: 0, exhausted: true });
    const { status, body } = await refusal(await rig.api.complete(ask(integration, 'u3')));
    assert.deepEqual([status, body.code], [429, 'consumer_allowance_exhausted']);
  });

  test('meters tokens: reserves a quarter of the bytes, settles the real usage', async (t) => {
    cites(
      t,
      'contract-6-allowance-units',
      'contract-6-reserve',
      'contract-6-refuse-and-settle',
      'contract-6-charged-real',
      'contract-6-allowance-read-back',
    );
    const integration = await rig.metered({ unit: 'tokens', limit: 100_000, period: 'week' });
    const reservedFor = async (id: string, message: string, answer: string) => {
      const { reader, call } = await rig.hold(ask(integration, id, { chatId: 'c1', message }));
      const { reserved } = await rig.allowance(integration);
      await call.text(answer);
      await call.end();
      await reader.whole();
      return reserved;
    };
    assert.equal(await reservedFor('u1', '', ''), 1001, 'at least 1');
    assert.equal(await reservedFor('u2', 'äöü😀', 'x'.repeat(7)), 1003, '10 bytes of UTF-8');
    assert.equal(await reservedFor('u3', 'abcde', 'y'), 1006, '10 and 7 earlier, 5 new');
    assert.equal(await reservedFor('u4', 'a', 'y'), 1006, '23 earlier, 1 new');
    assert.deepEqual(await counts(integration), {
      used: 4 * SPENT,
      reserved: 0,
      remaining: 100_000 - 4 * SPENT,
      exhausted: false,
    });
  });

  test('concurrent requests cannot exceed a token limit many times over', async (t) => {
    cites(t, 'contract-6-reserve-answer');
    const countAdmitted = async (limit: number) => {
      const integration = await rig.metered({ unit: 'tokens', limit, period: 'day' });
      const posts = Array.from({ length: 20 }, (_, i) => rig.api.complete(ask(integration, `u${i}`)));
      const readers = await Promise.all(posts);
      const admitted = readers.filter(({ status }) => status === 200);
      const { reserved } = await rig.allowance(integration);
      for (const _ of admitted) await (await rig.controller.nextCall()).end(tokens(100, 5));
      await Promise.all(admitted.map((reader) => reader.whole()));
      const { used } = await rig.allowance(integration);
      return { admitted: admitted.length, reserved, used };
    };
    assert.deepEqual(await countAdmitted(50), { admitted: 1, reserved: 1002, used: 105 });
    assert.deepEqual(await countAdmitted(2500), { admitted: 3, reserved: 3006, used: 315 });
  });

  test('`RUNWIRE_RESERVE_TOKENS` sets the reserve for instructions and answer', async (t) => {
    cites(t, 'contract-6-reserve-answer');
    for (const reserve of ['0', '70']) {
      await using own = await ScriptedServer.start({ store, env: { RUNWIRE_RESERVE_TOKENS: reserve } });
      const integration = await own.metered({ unit: 'tokens', limit: 100, period: 'day' });
      await own.hold(ask(integration, 'u', { message: 'x'.repeat(40) }));
      assert.equal((await own.allowance(integration)).reserved, Number(reserve) + 10);
    }
  });

  test('a streaming response may end above the limit; the next is refused', async (t) => {
    cites(
      t,
      'spec-1-end-above-limit',
      'spec-1-next-refused',
      'spec-8-allowance',
      'spec-7-429',
      'spec-7-rule-3',
      'contract-6-allowance-read-back',
    );
    const integration = await rig.metered({ unit: 'tokens', limit: 20, period: 'day' });
    const { reader } = await rig.answer(ask(integration, 'u1'), 'A long answer', tokens(30, 400));
    assert.equal(reader.answer, 'A long answer');
    assert.equal(reader.frames.at(-1)?.event, 'end');
    assert.deepEqual(await counts(integration), { used: 430, reserved: 0, remaining: 0, exhausted: true });
    const { status, admitted, body } = await refusal(await rig.api.complete(ask(integration, 'u2')));
    assert.deepEqual([status, body.code, admitted], [429, 'consumer_allowance_exhausted', 'false']);
  });

  test('a member can have its own limit, which can be removed again', async (t) => {
    cites(t, 'contract-6-allowance-member', 'contract-6-allowance');
    const integration = await rig.metered({ unit: 'runs', limit: 1, period: 'day' });
    await rig.answer(ask(integration, 'u1'));
    const next = async (id: string) => (await refusal(await rig.api.complete(ask(integration, id)))).status;
    assert.equal(await next('u2'), 429);
    await rig.member(integration, 'ann', { allowance: { limit: 2 } });
    assert.deepEqual(await counts(integration), { used: 1, reserved: 0, remaining: 1, exhausted: false });
    await rig.answer(ask(integration, 'u2'));
    assert.equal(await next('u3'), 429);
    await rig.member(integration, 'ann', { allowance: null });
    assert.equal((await rig.allowance(integration)).limit, 1);
    await rig.api.patch(`/v2/integrations/${integration}`, { allowances: { unit: 'runs', limit: 3, period: 'day' } });
    await rig.answer(ask(integration, 'u3'));
    await rig.member(integration, 'zero', { allowance: { limit: 0 } });
    const { status } = await refusal(await rig.api.complete(ask(integration, 'u4', { consumerId: 'zero' })));
    assert.equal(status, 429);
  });

  test('is exact immediately after unit, period or limit change', async (t) => {
    cites(t, 'contract-6-charged-while-off', 'contract-6-allowance', 'contract-6-allowance-units');
    const integration = await rig.integration();
    await rig.member(integration, 'ann');
    const setTo = (allowances: object | null) => rig.api.patch(`/v2/integrations/${integration}`, { allowances });
    await rig.answer(ask(integration, 'u1'), 'Hi', tokens(10, 20));
    assert.equal(await rig.allowance(integration), null);
    await setTo({ unit: 'runs', limit: 5, period: 'day' });
    assert.deepEqual(await counts(integration), { used: 1, reserved: 0, remaining: 4, exhausted: false });
    await rig.answer(ask(integration, 'u2'), 'Hi', tokens(1, 2));
    for (const period of ['day', 'week', 'month', 'lifetime']) {
      await setTo({ unit: 'tokens', limit: 40, period });
      assert.deepEqual(await counts(integration), { used: 33, reserved: 0, remaining: 7, exhausted: false }, period);
    }
    await setTo({ unit: 'tokens', limit: 33, period: 'day' });
    assert.equal((await refusal(await rig.api.complete(ask(integration, 'u3')))).status, 429);
    await setTo({ unit: 'runs', limit: 3, period: 'month' });
    assert.deepEqual(await counts(integration), { used: 2, reserved: 0, remaining: 1, exhausted: false });
    await setTo(null);
    await rig.answer(ask(integration, 'u3'));
    await setTo({ unit: 'runs', limit: 3, period: 'lifetime' });
    assert.deepEqual(await counts(integration), { used: 3, reserved: 0, remaining: 0, exhausted: true });
  });

  test('the usage of a member survives its deletion and new registration', async (t) => {
    cites(t, 'contract-3-member-reads', 'contract-6-refuse-and-settle');
    const integration = await rig.metered({ unit: 'tokens', limit: SPENT, period: 'lifetime' });
    const { runId } = await rig.answer(ask(integration, 'u1'));
    const member = `/v2/integrations/${integration}/members/ann`;
    assert.equal((await rig.api.delete(member)).status, 204);
    assert.equal((await rig.api.get(member)).status, 404);
    assert.deepEqual((await rig.api.get(`/v2/integrations/${integration}/members`)).body.items, []);
    const { body } = await rig.api.get(`/v2/integrations/${integration}/usage?consumerId=ann`);
    assert.deepEqual(pickColumn(body.items, 'runId'), [runId]);
    assert.equal((await rig.api.put(member, {})).status, 201);
    assert.deepEqual(await counts(integration), { used: SPENT, reserved: 0, remaining: 0, exhausted: true });
    assert.equal((await refusal(await rig.api.complete(ask(integration, 'u2')))).status, 429);
  });

  test('charges one run and its usage, estimated if a step was cut short', async (t) => {
    cites(
      t,
      'contract-6-charged-real',
      'contract-6-charged-cut-step',
      'contract-6-charged-runs',
      'contract-6-charged-not-accepted',
      'contract-6-reservation-ends',
      'contract-6-refuse-and-settle',
    );
    const integration = await rig.metered({ unit: 'tokens', limit: 100_000, period: 'day' });
    const below = `/v2/integrations/${integration}`;
    const charged = async (id: string) => {
      const [record] = (await rig.api.get(`${below}/usage?usageRequestId=${id}`)).body.items;
      assert.equal((await rig.allowance(integration)).reserved, 0, id);
      return [record.status, record.charged.amount];
    };
    const hold = (id: string) => rig.hold(ask(integration, id, { message: 'm'.repeat(40) }));

    await rig.answer(ask(integration, 'completed'), 'Hi', tokens(70, 7));
    assert.deepEqual(await charged('completed'), ['completed', 77]);

    // An interrupted step is charged for its prompt (instructions and message) and its text, with four bytes per token.
    const failed = await hold('failed');
    const promptBytes = Buffer.byteLength(failed.call.request.instructions) + 40;
    await failed.call.text('t'.repeat(9));
    await failed.call.fail('model_error', 'No.');
    await failed.reader.whole();
    assert.deepEqual(await charged('failed'), ['failed', Math.ceil(promptBytes / 4) + 3]);

    const cancelled = await hold('cancelled');
    await cancelled.call.text('t'.repeat(13));
    await cancelled.reader.untilText('t'.repeat(13));
    await rig.api.post(`${below}/runs/${cancelled.runId}/cancel`);
    assert.deepEqual(await charged('cancelled'), ['cancelled', Math.ceil(promptBytes / 4) + 4]);

    const silent = await hold('silent');
    await rig.api.post(`${below}/runs/${silent.runId}/cancel`);
    assert.deepEqual(await charged('silent'), ['cancelled', 0]);

    const sum = 77 + 2 * Math.ceil(promptBytes / 4) + 3 + 4;
    assert.equal((await rig.allowance(integration)).used, sum);
    await rig.api.patch(below, { allowances: { unit: 'runs', limit: 100, period: 'day' } });
    assert.equal(
      (await rig.allowance(integration)).used,
      3,
      'one run each, except the run whose model answered nothing',
    );
  });

  test('charges nothing in any unit for a run that a fault of the server ended', async (t) => {
    cites(t, 'contract-6-charged-zero', 'contract-6-reservation-ends', 'contract-8-stream-internal-error');
    const model: Model = {
      id: 'broken/model',
      async call(_request, output: ModelOutput) {
        output.text('I was about to');
        throw new TypeError('a secret of the inside');
      },
    };
    await using own = await ScriptedServer.start({ store, model });
    const integration = await own.metered({ unit: 'tokens', limit: 50, period: 'day' });
    const reader = await own.api.complete(ask(integration, 'u1'));
    const frames = await reader.whole();
    const runId = reader.headers['x-run-id'];
    const { error, ...rest } = JSON.parse(frames.at(-3)?.data ?? '');
    assert.deepEqual([reader.status, rest], [200, { code: 'internal_error', run_id: runId }]);
    assert.ok(!reader.text.includes('secret'), 'it says nothing more');
    assert.equal(typeof error, 'string');
    const [record] = (await own.api.get(`/v2/integrations/${integration}/usage`)).body.items;
    assert.deepEqual([record.status, record.charged], ['failed', { unit: 'tokens', amount: 0 }]);
    assert.ok(record.usage.total_tokens > 0, 'the real tokens stand beside');
    const readUsed = async () => {
      const { used, reserved } = await own.allowance(integration);
      return [used, reserved];
    };
    assert.deepEqual(await readUsed(), [0, 0]);
    await own.api.patch(`/v2/integrations/${integration}`, { allowances: { unit: 'runs', limit: 5, period: 'day' } });
    assert.deepEqual(await readUsed(), [0, 0]);
  });

  test('a 429 tells when to retry: at the reset, immediately, or never', async (t) => {
    cites(t, 'contract-6-429', 'contract-9-refusal-exhausted', 'contract-6-periods', 'contract-6-allowance-read-back');
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-05-15T10:30:00.500Z') }); // a Wednesday
    const day = 86_400;
    const untilMidnight = 13.5 * 3600;
    const expected = {
      day: { start: '2030-05-15T00:00:00.000Z', reset: '2030-05-16T00:00:00.000Z', seconds: untilMidnight },
      week: { start: '2030-05-13T00:00:00.000Z', reset: '2030-05-20T00:00:00.000Z', seconds: 4 * day + untilMidnight },
      month: {
        start: '2030-05-01T00:00:00.000Z',
        reset: '2030-06-01T00:00:00.000Z',
        seconds: 16 * day + untilMidnight,
      },
      lifetime: { start: null, reset: null, seconds: null },
    };
    for (const [period, { start, reset, seconds }] of Object.entries(expected)) {
      const integration = await rig.metered({ unit: 'runs', limit: 1, period });
      const said = async () => {
        const { body, retryAfter } = await refusal(await rig.api.complete(ask(integration, 'next')));
        const { error, ...rest } = body;
        assert.equal(typeof error, 'string');
        return [rest, retryAfter];
      };
      const { reader, call } = await rig.hold(ask(integration, 'u1'));
      const refusalBody = { code: 'consumer_allowance_exhausted', resetAt: reset };
      assert.deepEqual(await said(), [refusalBody, '1'], `${period}: only the reservation fills it`);
      await call.end();
      await reader.whole();
      assert.deepEqual(await said(), [refusalBody, seconds === null ? undefined : String(seconds)], period);
      assert.deepEqual(await rig.allowance(integration), {
        unit: 'runs',
        limit: 1,
        used: 1,
        reserved: 0,
        remaining: 0,
        period,
        periodStart: start,
        resetAt: reset,
        exhausted: true,
      });
    }
  });

  test('day, week and month begin at 00:00 UTC; the admission decides the period', async (t) => {
    cites(t, 'contract-6-periods', 'contract-6-period-of-admission', 'contract-6-allowance');
    // This Sunday is the last day of its month, so a day, a week and a month end with it.
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-03-31T23:59:59.999Z') });
    const integrations = new Map<string, string>();
    const held = [];
    for (const period of ['day', 'week', 'month', 'lifetime']) {
      const integration = await rig.metered({ unit: 'runs', limit: 2, period });
      integrations.set(period, integration);
      held.push(await rig.hold(ask(integration, 'u1')));
      assert.deepEqual(await counts(integration), { used: 0, reserved: 1, remaining: 1, exhausted: false });
    }
    t.mock.timers.setTime(Date.parse('2030-04-01T00:00:00.000Z'));
    for (const [period, integration] of integrations) {
      assert.equal((await rig.allowance(integration)).reserved, period === 'lifetime' ? 1 : 0, period);
    }
    for (const run of held) await run.finish();
    for (const [period, integration] of integrations) {
      const used = period === 'lifetime' ? 1 : 0;
      assert.deepEqual(await counts(integration), { used, reserved: 0, remaining: 2 - used, exhausted: false }, period);
      await rig.answer(ask(integration, 'u2'));
      assert.equal((await rig.allowance(integration)).used, used + 1, period);
    }
    t.mock.timers.setTime(Date.parse('2030-03-31T23:59:59.999Z'));
    for (const [period, integration] of integrations) {
      const { body } = await rig.api.get(`/v2/integrations/${integration}/usage?usageRequestId=u1`);
      const starts: Record<string, string | null> = {
        day: '2030-03-31T00:00:00.000Z',
        week: '2030-03-25T00:00:00.000Z',
        month: '2030-03-01T00:00:00.000Z',
        lifetime: null,
      };
      assert.equal(body.items[0].periodStart, starts[period], period);
    }
  });
}
