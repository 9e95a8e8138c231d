import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sweep } from './sweep.ts';

class TestSweep extends Sweep {
  readonly #work: (isClosed: () => boolean) => Promise<number>;

  constructor(periodMs: number, work: (isClosed: () => boolean) => Promise<number>, told: string[] = []) {
    super(periodMs, 'leaves', {
      error: (fields, sentence) => told.push(`${sentence}: ${(fields as { err: Error }).err.message}`),
    });
    this.#work = work;
  }

  protected override sweepOnce(): Promise<number> {
    return this.#work(() => this.isClosed);
  }
}

test('sweeps immediately and then periodically, also after a reported failure', async () => {
  const told: string[] = [];
  let count = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = async () => {
    count += 1;
    if (count === 2) throw new Error('once');
    if (count === 4) resolve();
    return count;
  };
  await using sweep = new TestSweep(1, work, told);
  // The timer of a sweep does not keep the process alive.
  const alive = setInterval(() => {}, 1000);
  sweep.start();
  sweep.start();
  await promise;
  clearInterval(alive);
  assert.deepEqual(told, ['leaves could not be swept; retrying: once']);
});

test('a second start adds no timer, and closing during a sweep removes it', async (t) => {
  const setTimer = t.mock.method(globalThis, 'setTimeout');
  const PERIOD_MS = 3_600_000;
  const timers = () => setTimer.mock.calls.filter(({ arguments: [, ms] }) => ms === PERIOD_MS).length;
  const settled = () => new Promise((done) => setImmediate(done));
  const start = () => {
    const work = Promise.withResolvers<number>();
    const sweep = new TestSweep(PERIOD_MS, () => work.promise);
    sweep.start();
    sweep.start();
    return { work, sweep };
  };
  {
    const { work, sweep } = start();
    work.resolve(0);
    await settled();
    assert.equal(timers(), 1);
    sweep.start();
    await settled();
    assert.equal(timers(), 1, 'nor does a start between two sweeps add one');
    await sweep[Symbol.asyncDispose]();
  }
  const { work, sweep } = start();
  const closing = Promise.all([sweep[Symbol.asyncDispose](), sweep[Symbol.asyncDispose]()]);
  work.resolve(0);
  await closing;
  await settled();
  assert.equal(timers(), 1);
});

test('a second call during a sweep returns the same sweep', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  let count = 0;
  await using sweep = new TestSweep(60_000, () => {
    count += 1;
    return promise;
  });
  const both = Promise.all([sweep.sweep(), sweep.sweep()]);
  resolve(7);
  assert.deepEqual([await both, count], [[7, 7], 1]);
  assert.deepEqual([await sweep.sweep(), count], [7, 2]);
});

test('closing waits for the current sweep and starts no other', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  const told: string[] = [];
  let count = 0;
  const sweep = new TestSweep(
    0,
    async (isClosed) => {
      count += 1;
      await promise;
      assert.ok(isClosed());
      return 0;
    },
    told,
  );
  sweep.start();
  let closed = false;
  const closing = sweep[Symbol.asyncDispose]().then(() => {
    closed = true;
  });
  await new Promise((done) => setImmediate(done));
  assert.equal(closed, false);
  resolve(0);
  await closing;
  sweep.start();
  await new Promise((done) => setImmediate(done));
  assert.equal(count, 1);
  assert.deepEqual(told, []);
});
