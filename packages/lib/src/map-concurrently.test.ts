import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { mapConcurrently } from './map-concurrently.ts';

const never = new AbortController().signal;

/** Rejects with the signal's reason, a turn later; until then it is not at rest. */
const untilAborted = (signal: AbortSignal, rest: () => void) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', async () => {
      await turn();
      rest();
      reject(signal.reason);
    });
  });

test('returns all results in order, with at most `limit` concurrent jobs', async () => {
  let running = 0;
  let most = 0;
  const results = await mapConcurrently(2, [3, 1, 2], never, async (item) => {
    running += 1;
    most = Math.max(most, running);
    for (let left = item; left > 0; left -= 1) await turn();
    running -= 1;
    return item * 10;
  });
  assert.deepEqual([results, most], [[30, 10, 20], 2]);
});

test('a failure aborts the other jobs, waits for them, and starts no more', async () => {
  let atRest = 0;
  const begun: string[] = [];
  const job = (item: string, signal: AbortSignal) => {
    begun.push(item);
    if (item === 'fails') return Promise.reject(new Error('broken'));
    return untilAborted(signal, () => {
      atRest += 1;
    });
  };
  await assert.rejects(mapConcurrently(3, ['a', 'b', 'fails', 'c'], never, job), /broken/);
  assert.deepEqual([atRest, begun], [2, ['a', 'b', 'fails']]);
});

test('an abort from outside stops all jobs, with its reason', async () => {
  const stop = new AbortController();
  let atRest = 0;
  const all = mapConcurrently(2, ['a', 'b'], stop.signal, (_, signal) =>
    untilAborted(signal, () => {
      atRest += 1;
    }),
  );
  stop.abort(new Error('cancelled'));
  await assert.rejects(all, /cancelled/);
  assert.equal(atRest, 2);
});
