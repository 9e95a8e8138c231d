import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimerLoop } from './timer-loop.ts';

const fail = (error: unknown) => assert.fail(String(error));

test('works at once and then again and again, also after a failure, which is told', async () => {
  const told: unknown[] = [];
  let count = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = async () => {
    count += 1;
    if (count === 2) throw new Error('once');
    if (count === 4) resolve();
    return count;
  };
  await using loop = new TimerLoop(1, work, (error) => told.push((error as Error).message));
  // Its timer does not keep a process alive.
  const alive = setInterval(() => {}, 1000);
  loop.start();
  loop.start();
  await promise;
  clearInterval(alive);
  assert.deepEqual(told, ['once']);
});

test('a second one at the same time is the first', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  let count = 0;
  await using loop = new TimerLoop(
    60_000,
    () => {
      count += 1;
      return promise;
    },
    fail,
  );
  const both = Promise.all([loop.once(), loop.once()]);
  resolve(7);
  assert.deepEqual([await both, count], [[7, 7], 1]);
  assert.deepEqual([await loop.once(), count], [7, 2]);
});

test('closing waits for what is under way and lets nothing begin', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  let count = 0;
  const loop: TimerLoop = new TimerLoop(
    0,
    async () => {
      count += 1;
      await promise;
      assert.ok(loop.isClosed);
      return 0;
    },
    fail,
  );
  loop.start();
  let closed = false;
  const closing = loop[Symbol.asyncDispose]().then(() => {
    closed = true;
  });
  await new Promise((done) => setImmediate(done));
  assert.equal(closed, false);
  resolve(0);
  await closing;
  loop.start();
  await new Promise((done) => setImmediate(done));
  assert.equal(count, 1);
});
