import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WatchedRun } from './run-watch.ts';
import { StopHandle } from './stop-handle.ts';

test('readers are cut only if the end takes long, not if the process paused', () => {
  const stop = new StopHandle();
  let cuts = 0;
  const log = { isFull: false, onceRoom() {}, cut: () => (cuts += 1) };
  const run = new WatchedRun(stop, { maxRunSeconds: 1, spentMs: 0, silenceMs: 60_000 }, log);
  const afterPause = performance.now() + 60_000;
  run.check(performance.now());
  assert.equal(stop.signal.aborted, false);
  for (let tick = 0; tick < 8; tick += 1) run.check(afterPause + tick * 250);
  assert.deepEqual([stop.signal.aborted, cuts], [true, 0]);
  run.check(afterPause + 2000);
  assert.equal(cuts, 1);
});
