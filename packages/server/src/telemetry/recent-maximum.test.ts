import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentMaximum } from './recent-maximum.ts';

test('keeps the largest value for one to two windows', () => {
  let now = 1000;
  const maximum = new RecentMaximum(100, () => now);
  assert.equal(maximum.value, 0);
  maximum.observe(7);
  maximum.observe(3);
  assert.equal(maximum.value, 7);
  now = 1199;
  maximum.observe(5);
  assert.equal(maximum.value, 7);
  now = 1200;
  assert.equal(maximum.value, 5);
  now = 1400;
  assert.equal(maximum.value, 0);
});
