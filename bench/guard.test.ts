import assert from 'node:assert/strict';
import { test } from 'node:test';
import bounds from './count-bounds.json' with { type: 'json' };
import { Guard } from './guard.ts';

const TRIES = 4;

test('a run costs no more than its bounds', { skip: process.platform !== 'linux' }, async () => {
  await using guard = await Guard.start();
  assert.deepEqual(await guard.findExcess(bounds, TRIES), [], 'If it is meant: npm run bench -- --write-bounds');
});
