import assert from 'node:assert/strict';
import { test } from 'node:test';
import bounds from './count-bounds.json' with { type: 'json' };
import { Guard } from './guard.ts';

const TRIES = 4;

test('a run costs no more than its bounds', { skip: process.platform !== 'linux' }, async (t) => {
  await using guard = await Guard.start();

  await t.test('in allocation, statements and writes', async () => {
    assert.deepEqual(await guard.findExcess(bounds, TRIES), [], 'If it is meant: npm run bench -- --write-bounds');
  });

  await t.test('and the guard finds four statements, eight writes and 40 kB more per run', async () => {
    const before = guard.least;
    guard.plant('statement', 'write', 'allocation');
    const excess = (await guard.findExcess(before, 1)).map((sentence) => sentence.split(' a run', 1)[0]);
    const planted = ['short: statements', 'short: kB allocated', 'single: statements', 'single: kB allocated'];
    for (const label of [...planted, 'single: write calls']) assert.ok(excess.includes(label), `${label}, ${excess}`);
  });
});
