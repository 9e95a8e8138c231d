import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withTimeout } from './with-timeout.ts';

test('resolves like the work, or like `late` after the time limit', async () => {
  assert.equal(await withTimeout(Promise.resolve(1), 60_000, () => 2), 1);
  assert.equal(await withTimeout(new Promise<number>(() => {}), 1, () => 2), 2);
  await assert.rejects(
    withTimeout(Promise.reject(new Error('failed')), 60_000, () => 2),
    /failed/,
  );
  const late = () => {
    throw new Error('late');
  };
  await assert.rejects(withTimeout(new Promise<number>(() => {}), 1, late), /late/);
  const { promise, reject } = Promise.withResolvers<number>();
  assert.equal(await withTimeout(promise, 1, () => 2), 2);
  reject(new Error('this rejection comes too late and is ignored'));
});
