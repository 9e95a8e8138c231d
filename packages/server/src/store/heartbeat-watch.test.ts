import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeartbeatWatch } from './heartbeat-watch.ts';

const one = (beat: number) => [{ nodeId: 'n', beat }];

test('a heartbeat is silent if it does not change for a lease', () => {
  const watch = new HeartbeatWatch(8000, 3000);
  for (let second = 0; second < 8; second += 1) {
    assert.deepEqual(watch.observe(second * 1000, second * 1000 + 1, one(7)), []);
  }
  assert.deepEqual(watch.observe(8000, 8001, one(7)), [], 'not for the whole time between answer and question');
  assert.deepEqual(watch.observe(8001, 8002, one(7)), one(7));
  assert.deepEqual(watch.observe(9000, 9001, one(8)), []);
});

test('after a gap the watch starts again', () => {
  const watch = new HeartbeatWatch(8000, 3000);
  watch.observe(0, 1, one(7));
  assert.deepEqual(watch.observe(60_000, 60_001, one(7)), []);
  assert.deepEqual(watch.observe(61_000, 61_001, one(7)), []);
  for (let second = 62; second < 68; second += 1) watch.observe(second * 1000, second * 1000 + 1, one(7));
  assert.deepEqual(watch.observe(68_002, 68_003, one(7)), one(7));
});

test('a late answer counts as a gap: it may be as old as its question', () => {
  const watch = new HeartbeatWatch(8000, 3000);
  for (let second = 0; second < 8; second += 1) watch.observe(second * 1000, second * 1000 + 1, one(7));
  watch.observe(8000, 20_000, one(7));
  assert.deepEqual(watch.observe(20_001, 20_002, one(7)), []);
});

test('a node with a new heartbeat is watched again from the start', () => {
  const watch = new HeartbeatWatch(2000, 3000);
  watch.observe(0, 0, one(1));
  watch.observe(1000, 1000, []);
  assert.deepEqual(watch.observe(2500, 2500, one(1)), []);
});
