import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SCRIPTED_USAGE, STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { pickColumn, toRows } from './support/columns.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';

const SPENT = SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens;

const REQUEST = { amount: 5, unit: 'tokens', reason: 'The answer was wrong.', idempotencyKey: 'k1' };

const ask = (apiIntegrationId: string, usageRequestId: string) => ({
  apiIntegrationId,
  consumerId: 'ann',
  usageRequestId,
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store });

  const path = (integration: string, consumerId = 'ann') =>
    `/v2/integrations/${integration}/members/${consumerId}/adjustments`;
  const adjust = (integration: string, more: object = {}, consumerId = 'ann') =>
    rig.api.post(path(integration, consumerId), { ...REQUEST, ...more });
  const readUsed = async (integration: string) => (await rig.allowance(integration)).used;

  test('gives back and takes in the current period, and answers a repeat', async (t) => {
    cites(
      t,
      'contract-3-member-adjustments',
      'contract-6-adjustment',
      'contract-6-adjustment-amount',
      'contract-6-adjustment-applied',
      'contract-6-adjustment-repeat',
      'contract-8-400-idempotency-key-reused',
    );
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-05-15T10:00:00.000Z') });
    const integration = await rig.metered({ unit: 'tokens', limit: SPENT, period: 'month' });
    await rig.answer(ask(integration, 'u1'));
    assert.equal((await refusal(await rig.api.complete(ask(integration, 'u2')))).status, 429);
    const made = await adjust(integration);
    assert.equal(made.status, 201);
    const { adjustmentId, ...record } = made.body;
    assert.match(adjustmentId, /^adj_/);
    assert.deepEqual(record, {
      kind: 'adjustment',
      consumerId: 'ann',
      ...REQUEST,
      applied: 5,
      periodStart: '2030-05-01T00:00:00.000Z',
      createdAt: '2030-05-15T10:00:00.000Z',
    });
    assert.equal(await readUsed(integration), SPENT - 5);
    await rig.answer(ask(integration, 'u2'));
    assert.equal(await readUsed(integration), 2 * SPENT - 5);

    t.mock.timers.tick(60_000);
    const repeat = await adjust(integration);
    assert.deepEqual([repeat.status, repeat.body], [200, made.body]);
    for (const other of [{ amount: 6 }, { amount: -5 }, { unit: 'runs' }, { reason: 'Another.' }]) {
      const { status, body } = await adjust(integration, other);
      assert.deepEqual([status, body.code], [400, 'idempotency_key_reused'], JSON.stringify(other));
    }
    assert.equal(await readUsed(integration), 2 * SPENT - 5, 'a repeat changes nothing');

    assert.equal((await adjust(integration, { amount: -7, idempotencyKey: 'k2' })).body.applied, -7);
    assert.equal(await readUsed(integration), 2 * SPENT + 2);
    const all = (await adjust(integration, { amount: 1_000_000, idempotencyKey: 'k3' })).body;
    assert.deepEqual([all.amount, all.applied], [1_000_000, 2 * SPENT + 2]);
    assert.deepEqual([await readUsed(integration), (await rig.allowance(integration)).remaining], [0, SPENT]);
    assert.equal((await adjust(integration, { amount: 1, idempotencyKey: 'k4' })).body.applied, 0);
    assert.equal(await readUsed(integration), 0);
    await rig.member(integration, 'ben');
    assert.equal((await adjust(integration, {}, 'ben')).status, 201, 'another member may use the same key');
  });

  test('counts on the day it is made, in every period', async (t) => {
    cites(t, 'contract-6-adjustment', 'contract-6-adjustment-lists', 'contract-6-adjustment-applied');
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-05-14T10:00:00.000Z') });
    const integration = await rig.metered({ unit: 'tokens', limit: 1000, period: 'month' });
    const setTo = (period: string, unit = 'tokens') =>
      rig.api.patch(`/v2/integrations/${integration}`, { allowances: { unit, limit: 1000, period } });
    await rig.answer(ask(integration, 'u1'));
    t.mock.timers.setTime(Date.parse('2030-05-15T10:00:00.000Z'));
    assert.equal((await adjust(integration, { amount: 4 })).body.applied, 4);
    assert.equal(await readUsed(integration), SPENT - 4);
    await setTo('day');
    assert.equal(await readUsed(integration), 0, 'this day has only the adjustment');
    assert.equal((await adjust(integration, { idempotencyKey: 'k2' })).body.applied, 0);
    await rig.answer(ask(integration, 'u2'));
    assert.equal(await readUsed(integration), SPENT - 4);
    await setTo('lifetime');
    assert.equal(await readUsed(integration), 2 * SPENT - 4);
    const { periodStart } = (await adjust(integration, { amount: -4, idempotencyKey: 'k3' })).body;
    assert.equal(periodStart, null);
    await setTo('month', 'runs');
    assert.equal(await readUsed(integration), 2, 'other units are not changed');
    await setTo('month');
    t.mock.timers.setTime(Date.parse('2030-06-01T00:00:00.000Z'));
    assert.equal((await adjust(integration, { idempotencyKey: 'k4' })).body.applied, 0, 'nothing is used in June');
  });

  test('refuses wrong requests and adjusts nothing', async (t) => {
    cites(
      t,
      'contract-6-adjustment-fields',
      'contract-6-adjustment-off',
      'contract-8-400-allowances-disabled',
      'contract-8-404-member-not-found',
    );
    const integration = await rig.metered({ unit: 'tokens', limit: 1000, period: 'day' });
    await rig.answer(ask(integration, 'u1'));
    const wrong: object[] = [
      { amount: 0 },
      { amount: 0.5 },
      { amount: '5' },
      { amount: null },
      { amount: 1e16 },
      { unit: 'runs' },
      { unit: 'credits', amount: 0.5 },
      { unit: 'euros' },
      { reason: '' },
      { reason: '𝄞'.repeat(501) },
      { idempotencyKey: '' },
      { idempotencyKey: '𝄞'.repeat(257) },
      { note: 'x' },
      ...Object.keys(REQUEST).map((name) => ({ [name]: undefined })),
    ];
    for (const more of wrong) {
      const { status, body } = await adjust(integration, more);
      assert.deepEqual([status, body.code], [400, 'invalid_request'], JSON.stringify(more).slice(0, 80));
    }
    assert.match((await adjust(integration, { unit: 'runs' })).body.error, /`unit` must be `tokens`/);
    const unknown = await adjust(integration, {}, 'nobody');
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'member_not_found']);
    assert.equal((await rig.api.get(path(integration, 'nobody'))).body.code, 'member_not_found');
    assert.deepEqual((await rig.api.get(path(integration))).body, { items: [], nextCursor: null });
    assert.equal(await readUsed(integration), SPENT);

    assert.equal((await adjust(integration)).status, 201);
    await rig.api.patch(`/v2/integrations/${integration}`, { allowances: null });
    const off = await adjust(integration, { idempotencyKey: 'k2' });
    assert.deepEqual([off.status, off.body.code], [400, 'allowances_disabled']);
    assert.equal((await adjust(integration)).status, 200, 'a repeat is answered also with allowances off');
  });

  test('stores any text, and the longest key of the longest member id', async (t) => {
    cites(t, 'contract-6-adjustment-fields', 'contract-6-adjustment-repeat');
    const integration = await rig.metered({ unit: 'runs', limit: 9, period: 'day' });
    const member = encodeURIComponent('𝄞'.repeat(256));
    await rig.member(integration, member);
    const odd = { unit: 'runs', amount: -1, reason: '\u0000\u2028'.repeat(250), idempotencyKey: '\u0000'.repeat(256) };
    const made = await adjust(integration, odd, member);
    assert.deepEqual([made.status, made.body.reason, made.body.idempotencyKey], [201, odd.reason, odd.idempotencyKey]);
    assert.deepEqual((await rig.api.get(path(integration, member))).body.items, [made.body]);
    assert.equal((await adjust(integration, odd, member)).status, 200);
    assert.equal((await adjust(integration, { ...odd, idempotencyKey: '\u0000' }, member)).status, 201, 'another key');
  });

  test('concurrent adjustments and runs never lose an amount', async (t) => {
    cites(t, 'contract-6-adjustment-applied', 'contract-6-adjustment-repeat');
    const integration = await rig.metered({ unit: 'runs', limit: 1000, period: 'month' });
    await adjust(integration, { unit: 'runs', amount: -10, idempotencyKey: 'start' });
    const { reader, call } = await rig.hold(ask(integration, 'u1'));
    const posts = Array.from({ length: 16 }, (_, n) =>
      adjust(integration, { unit: 'runs', amount: 3, idempotencyKey: `k${n % 8}` }),
    );
    await call.end();
    const answers = await Promise.all(posts);
    await reader.whole();
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(8).fill(200), ...Array(8).fill(201)]);
    const { items } = (await rig.api.get(`${path(integration)}?limit=200`)).body;
    assert.equal(items.length, 9);
    const applied = items.reduce((sum: number, item: { applied: number }) => sum + item.applied, 0);
    const used = await readUsed(integration);
    assert.equal(used, 1 - applied, 'the run, less what the adjustments applied');
    assert.ok(used >= 0 && used <= 1);
  });

  test('the usage list and its CSV contain adjustments, the summary does not', async (t) => {
    cites(
      t,
      'contract-6-adjustment-lists',
      'contract-6-adjustment-summary',
      'contract-6-usage-kind',
      'contract-3-member-adjustments',
    );
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-01-01T00:00:00.000Z') });
    const integration = await rig.metered({ unit: 'tokens', limit: 1000, period: 'month' });
    const below = `/v2/integrations/${integration}`;
    await rig.member(integration, 'ben');
    const odd = { amount: -1, reason: '=1+1, "x"' };
    // Two records have each time, so that pages end between them.
    for (let n = 1; n <= 3; n += 1) {
      t.mock.timers.setTime(Date.parse(`2030-01-0${n}T00:00:00.000Z`));
      await adjust(integration, { ...odd, idempotencyKey: `k${n}` }, n === 2 ? 'ben' : 'ann');
      await rig.answer(ask(integration, `u${n}`));
    }
    const listed = async (query: string) => {
      const { items } = (await rig.api.get(`${below}/usage?${query}`)).body;
      return toRows(items, 'kind', 'usageRequestId', 'idempotencyKey').map(([kind, run, key]) => [kind, run ?? key]);
    };
    const all = [
      ['run', 'u3'],
      ['adjustment', 'k3'],
      ['run', 'u2'],
      ['adjustment', 'k2'],
      ['run', 'u1'],
      ['adjustment', 'k1'],
    ];
    assert.deepEqual(await listed(''), all);
    for (const limit of [1, 2, 3, 5]) {
      const paged: unknown[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await rig.api.get(`${below}/usage?limit=${limit}${cursor}`);
        paged.push(...body.items);
        if (body.nextCursor === null) break;
        cursor = `&cursor=${body.nextCursor}`;
      }
      assert.deepEqual(paged, (await rig.api.get(`${below}/usage`)).body.items, `pages of ${limit}`);
    }
    assert.deepEqual(await listed('consumerId=ben'), [['adjustment', 'k2']]);
    assert.deepEqual(await listed('usageRequestId=u2'), [['run', 'u2']]);
    assert.deepEqual(await listed('from=2030-01-02T00:00:00Z&to=2030-01-03T00:00:00Z'), all.slice(2, 4));

    const csv: string = (await rig.api.get(`${below}/usage?format=csv`)).body;
    const [header = '', ...lines] = csv.trimEnd().split('\r\n');
    assert.ok(
      header.endsWith(
        'completedAt,kind,adjustmentId,unit,amount,applied,reason,idempotencyKey,createdAt,firstTokenMs,cost,currency,rerun',
      ),
    );
    assert.equal(lines.length, 6);
    const { adjustmentId } = (await rig.api.get(path(integration))).body.items[0];
    const start = '2030-01-01T00:00:00.000Z';
    const made = '2030-01-03T00:00:00.000Z';
    const written = `tokens,-1,-1,"'=1+1, ""x""",k3,${made},,,`;
    assert.equal(lines[1], `,ann${','.repeat(14)}${start},,,adjustment,${adjustmentId},${written},`);
    assert.match(lines[0] ?? '', /,run,,,,,,,,\d+,,,false$/);
    const { items } = (await rig.api.get(`${below}/usage/summary?groupBy=consumer`)).body;
    assert.deepEqual(toRows(items, 'key', 'runs'), [['ann', 3]]);
    assert.equal(items[0].charged.tokens, 3 * SPENT);

    assert.equal((await rig.api.delete(`${below}/members/ann`)).status, 204);
    assert.equal((await rig.api.get(path(integration))).status, 404);
    assert.deepEqual(await listed(''), all, 'the deletion of a member keeps its usage records');
    await rig.member(integration, 'ann');
    assert.deepEqual(pickColumn((await rig.api.get(path(integration))).body.items, 'idempotencyKey'), ['k3', 'k1']);
    assert.equal((await adjust(integration, { ...odd, idempotencyKey: 'k3' })).status, 200);
  });

  test('adjusts credits with up to six decimals', async (t) => {
    cites(t, 'contract-6-adjustment-fields', 'contract-6-adjustment-applied');
    await using own = await ScriptedServer.start({
      store,
      env: { RUNWIRE_PRICES: '{"scripted/model":{"input":1,"cachedInput":1,"output":1}}' },
    });
    const integration = await own.metered({ unit: 'credits', limit: 10, period: 'month' });
    let key = 0;
    const change = async (amount: number) => {
      key += 1;
      const request = { amount, unit: 'credits', reason: 'r', idempotencyKey: String(key) };
      const { status, body } = await own.api.post(path(integration), request);
      const { used, remaining } = await own.allowance(integration);
      return [status, body.applied, used, remaining];
    };
    assert.deepEqual(await change(-0.1), [201, -0.1, 0.1, 9.9]);
    assert.deepEqual(await change(-0.2), [201, -0.2, 0.3, 9.7]);
    assert.deepEqual(await change(-2.7), [201, -2.7, 3, 7]);
    assert.deepEqual(await change(0.000001), [201, 0.000001, 2.999999, 7.000001]);
    assert.equal((await change(0.0000001))[0], 400);
    assert.deepEqual(await change(4.5), [201, 2.999999, 0, 10]);
  });
}
