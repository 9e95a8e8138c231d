import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTime } from './in-time.ts';

test('what comes in time counts, and what comes late does not', async () => {
  assert.equal(await inTime(Promise.resolve(1), 60_000, () => 2), 1);
  assert.equal(await inTime(new Promise<number>(() => {}), 1, () => 2), 2);
  await assert.rejects(
    inTime(Promise.reject(new Error('failed')), 60_000, () => 2),
    /failed/,
  );
  const late = () => {
    throw new Error('late');
  };
  await assert.rejects(inTime(new Promise<number>(() => {}), 1, late), /late/);
  const { promise, reject } = Promise.withResolvers<number>();
  assert.equal(await inTime(promise, 1, () => 2), 2);
  reject(new Error('nobody waits for this any more'));
});
