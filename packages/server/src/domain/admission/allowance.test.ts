import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cites } from '../../../../../requirements/cite.ts';
import {
  type AllowancePeriod,
  allowanceJson,
  chargeFor,
  periodEndMs,
  periodFirstDay,
  periodStartMs,
  reservedAmount,
  toDay,
} from './allowance.ts';

const at = (time: string) => Date.parse(time);
const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
const instant = fc.integer({ min: at('2000-01-01T00:00:00Z'), max: at('2400-01-01T00:00:00Z') });
const periods: readonly AllowancePeriod[] = ['day', 'week', 'month'];

test('periods begin at 00:00 UTC: weeks on Mondays, months on the first', (t) => {
  cites(t, 'contract-6-periods');
  const table: readonly (readonly [AllowancePeriod, string, string, string])[] = [
    ['day', '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
    ['day', '2026-02-28T23:59:59.999Z', '2026-02-28T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['day', '2028-02-28T12:00:00.000Z', '2028-02-28T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
    ['week', '2026-06-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z', '2026-06-08T00:00:00.000Z'],
    ['week', '2026-06-07T23:59:59.999Z', '2026-06-01T00:00:00.000Z', '2026-06-08T00:00:00.000Z'],
    ['week', '2027-01-01T10:00:00.000Z', '2026-12-28T00:00:00.000Z', '2027-01-04T00:00:00.000Z'],
    ['week', '2028-03-01T10:00:00.000Z', '2028-02-28T00:00:00.000Z', '2028-03-06T00:00:00.000Z'],
    ['month', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['month', '2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z', '2027-02-01T00:00:00.000Z'],
    ['month', '2028-02-29T23:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['month', '2100-02-28T23:00:00.000Z', '2100-02-01T00:00:00.000Z', '2100-03-01T00:00:00.000Z'],
  ];
  for (const [period, now, start, end] of table) {
    assert.equal(iso(periodStartMs(period, at(now))), start, `${period} of ${now}`);
    assert.equal(iso(periodEndMs(period, at(now))), end, `${period} of ${now}`);
  }
  fc.assert(
    fc.property(instant, (now) => {
      const week = new Date(periodStartMs('week', now) ?? 0);
      assert.equal(week.getUTCDay(), 1);
      assert.equal(new Date(periodStartMs('month', now) ?? 0).getUTCDate(), 1);
      for (const period of periods) assert.equal((periodStartMs(period, now) ?? 1) % 86_400_000, 0);
    }),
  );
});

test('every moment is in exactly one period of each kind, without gaps', () => {
  fc.assert(
    fc.property(instant, fc.constantFrom(...periods), (now, period) => {
      const start = periodStartMs(period, now) ?? 0;
      const end = periodEndMs(period, now) ?? 0;
      assert.ok(start <= now && now < end);
      assert.equal(periodStartMs(period, end), end);
      assert.equal(periodStartMs(period, end - 1), start);
      assert.equal(periodEndMs(period, start), end);
      assert.equal(periodFirstDay(period, now), toDay(start));
    }),
  );
});

test('a lifetime has no beginning and no end, and counts every day', () => {
  fc.assert(
    fc.property(instant, (now) => {
      assert.equal(periodStartMs('lifetime', now), null);
      assert.equal(periodEndMs('lifetime', now), null);
      assert.equal(periodFirstDay('lifetime', now), 0);
    }),
  );
});

test('reserves one run, or a quarter of the bytes plus the setting', () => {
  const held = (unit: 'runs' | 'tokens', textBytes: number, reserveTokens: number) =>
    reservedAmount({ unit, textBytes, reserveTokens, price: null });
  assert.equal(held('runs', 1000, 1000), 1);
  for (const reserveTokens of [0, 1000]) {
    assert.equal(held('tokens', 0, reserveTokens), reserveTokens + 1);
    assert.equal(held('tokens', 4, reserveTokens), reserveTokens + 1);
    assert.equal(held('tokens', 5, reserveTokens), reserveTokens + 2);
  }
});

test('a server fault is free in every unit; every other end costs what was used', () => {
  const usage = { requestCount: 2, inputTokens: 10, cachedTokens: 4, outputTokens: 5, reasoningTokens: 3 };
  const byModel = [
    { model: 'a/b', ...usage, credits: 3 },
    { model: 'a/c', ...usage, credits: 4 },
  ];
  for (const code of ['internal_error', 'run_interrupted', 'attachment_unavailable', 'agency_error']) {
    for (const accepted of [true, false]) {
      const end = { status: 'failed', errorCode: code, accepted } as const;
      assert.deepEqual(chargeFor(end, usage, byModel), { runs: 0, tokens: 0, credits: 0 });
    }
  }
  for (const code of ['model_error', 'step_limit', 'run_timeout']) {
    const end = { status: 'failed', errorCode: code, accepted: true } as const;
    assert.deepEqual(chargeFor(end, usage, byModel), { runs: 1, tokens: 15, credits: 7 });
  }
});

test('a failed or cancelled run is free if no model accepted a call', () => {
  const usage = { requestCount: 1, inputTokens: 10, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 };
  const charged = (status: 'completed' | 'failed' | 'cancelled', accepted: boolean) =>
    chargeFor({ status, errorCode: status === 'failed' ? 'model_error' : null, accepted }, usage, []);
  for (const status of ['failed', 'cancelled'] as const) {
    assert.deepEqual(charged(status, false), { runs: 0, tokens: 0, credits: 0 });
    assert.deepEqual(charged(status, true), { runs: 1, tokens: 10, credits: 0 });
  }
  assert.deepEqual(charged('completed', false), { runs: 1, tokens: 10, credits: 0 });
});

test('the remainder is never negative, and zero means exhausted', () => {
  const amount = fc.nat(1000);
  fc.assert(
    fc.property(amount, amount, amount, instant, (limit, used, reserved, now) => {
      const shown = allowanceJson({ unit: 'tokens', period: 'month', limit, used, reserved }, now);
      assert.equal(shown.remaining, Math.max(0, limit - used - reserved));
      assert.equal(shown.exhausted, shown.remaining === 0);
      assert.equal(shown.exhausted, used + reserved >= limit, 'exhausted is what admission refuses');
    }),
  );
});
