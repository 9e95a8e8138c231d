import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WakeableLoop } from './wakeable-loop.ts';

const HOUR_MS = 3_600_000;

test('several wakes during the work cause one more round', async () => {
  let works = 0;
  let gate = Promise.withResolvers<void>();
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using loop = new WakeableLoop(
    HOUR_MS,
    async () => {
      begun[works]?.resolve();
      works += 1;
      await gate.promise;
    },
    (error) => assert.ifError(error),
  );
  loop.wake();
  await begun[0]?.promise;
  for (let i = 0; i < 3; i += 1) loop.wake();
  assert.equal(works, 1);
  const first = gate;
  gate = Promise.withResolvers();
  first.resolve();
  await begun[1]?.promise;
  gate.resolve();
  await loop[Symbol.asyncDispose]();
  assert.equal(works, 2);
});

test('works once per period without a wake and reports only the first failure', async () => {
  const errors: unknown[] = [];
  let works = 0;
  const enough = Promise.withResolvers<void>();
  await using loop = new WakeableLoop(
    1,
    async (byClock) => {
      assert.ok(byClock);
      works += 1;
      if (works >= 6) enough.resolve();
      // The first two calls fail, the third succeeds, the next fail again.
      if (works !== 3) throw new Error(`failure ${works}`);
    },
    (error) => errors.push((error as Error).message),
  );
  loop.start();
  await enough.promise;
  await loop[Symbol.asyncDispose]();
  assert.deepEqual(errors.slice(0, 2), ['failure 1', 'failure 4']);
});

test('a wake after closing has no effect', async () => {
  let works = 0;
  const work = async () => {
    works += 1;
  };
  const loop = new WakeableLoop(HOUR_MS, work, (error) => assert.ifError(error));
  await loop[Symbol.asyncDispose]();
  loop.wake();
  loop.start();
  assert.equal(works, 0);
});

test('no wake is lost, even directly after the last work', async () => {
  for (let turns = 0; turns < 8; turns += 1) {
    let works = 0;
    const gate = Promise.withResolvers<void>();
    const work = async () => {
      works += 1;
      await gate.promise;
    };
    await using loop = new WakeableLoop(HOUR_MS, work, (error) => assert.ifError(error));
    loop.wake();
    gate.resolve();
    for (let turn = 0; turn < turns; turn += 1) await null;
    loop.wake();
    await new Promise(setImmediate);
    assert.equal(works, 2, `woken ${turns} turns behind the end of the work`);
  }
});
