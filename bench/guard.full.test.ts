import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Guard } from './guard.ts';

test('the guard finds four statements, eight writes and 40 kB more per run', {
  skip: process.platform !== 'linux',
}, async () => {
  await using guard = await Guard.start();
  const before = await guard.measureBounds();
  guard.plant('statement', 'write', 'allocation');
  const excess = (await guard.findExcess(before, 1)).map((sentence) => sentence.split(' a run', 1)[0]);
  const planted = ['short: statements', 'short: kB allocated', 'single: statements', 'single: kB allocated'];
  for (const label of [...planted, 'single: write calls']) assert.ok(excess.includes(label), `${label}, ${excess}`);
});
