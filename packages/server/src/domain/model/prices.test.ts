import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { getCredits, type Prices, withPrices } from './prices.ts';

const MICRO = 1_000_000;
const tokens = (inputTokens: number, cachedTokens = 0, outputTokens = 0) => ({
  inputTokens,
  cachedTokens,
  outputTokens,
});

test('credits are whole and rounded up, cached input at its own price', () => {
  const price = { input: 1.25 * MICRO, cachedInput: 0.125 * MICRO, output: 10 * MICRO };
  assert.equal(getCredits(price, tokens(0)), 0);
  assert.equal(getCredits(price, tokens(1)), 1, 'the smallest use costs one credit');
  assert.equal(getCredits(price, tokens(800_000)), 1, 'exactly one is one');
  assert.equal(getCredits(price, tokens(800_001)), 2);
  assert.equal(getCredits(price, tokens(1_000_000, 1_000_000, 1_000_000)), 11, '0.125 + 10, rounded up');
  assert.equal(getCredits({ input: 0, cachedInput: 0, output: 0 }, tokens(1e9, 0, 1e9)), 0, 'a free model is free');
});

test('sums are exact, unlike floating point', () => {
  // 0.1 + 0.2 credits for a million tokens of each kind is 0.3. In floating point it is a little more.
  const price = { input: 100_000, cachedInput: 0, output: 200_000 };
  assert.equal(getCredits(price, tokens(10_000_000, 0, 10_000_000)), 3);
  fc.assert(
    fc.property(fc.nat(1e9), fc.nat(1e9), fc.nat(1e9), fc.nat(1e12), (input, cached, output, rate) => {
      const each = { input: rate, cachedInput: rate, output: rate };
      const cost = BigInt(input + output) * BigInt(rate);
      const credits = BigInt(getCredits(each, tokens(input, Math.min(cached, input), output)));
      assert.ok(credits * 10n ** 12n >= cost && (credits - 1n) * 10n ** 12n < cost);
    }),
  );
});

test('prices the end for any number that a provider reports', () => {
  const price = { input: MICRO, cachedInput: 0, output: MICRO };
  for (const claimed of [Number.NaN, -5, Number.POSITIVE_INFINITY, 0.5]) {
    assert.ok(getCredits(price, tokens(claimed, claimed, claimed)) >= 0);
  }
  assert.equal(getCredits(price, tokens(2_000_000, 9_000_000)), 0, 'more cached than there was: all of it was cached');
});

test('each model of a run has its own price, and without a price it costs nothing', () => {
  const used = { requestCount: 1, reasoningTokens: 0, credits: 0, ...tokens(10) };
  const models: Prices['models'] = new Map([
    ['a/dear', { input: MICRO * MICRO, cachedInput: 0, output: 0 }],
    ['a/cheap', { input: 1, cachedInput: 0, output: 0 }],
    ['a/rounded', { input: 150_000, cachedInput: 0, output: 0 }],
  ]);
  const priced = (currency: string | null) =>
    withPrices(
      [...models.keys(), 'a/unknown'].map((model) => ({ model, ...used })),
      { currency, models },
    );
  const credits = [10, 1, 1, 0];
  assert.deepEqual(
    priced(null).map((one) => [one.credits, one.cost]),
    credits.map((amount) => [amount, undefined]),
  );
  // 10 tokens at 0.15 for a million are 1.5 millionths.
  assert.deepEqual(
    priced('EUR').map((one) => [one.credits, one.cost]),
    [10_000_000, 0, 2, undefined].map((cost, at) => [credits[at], cost]),
  );
});
