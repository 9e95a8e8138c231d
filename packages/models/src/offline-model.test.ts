import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { test } from 'node:test';
import { cites } from '../../../requirements/cite.ts';
import { offlineModel } from './offline-model.ts';
import { Listener, modelConformance, modelRequest } from './testing/model-conformance.ts';

modelConformance('offline', async () => ({
  model: offlineModel,
  ask: 'Hello',
  failing: '/fail',
  endless: '/slow 600',
  long: 'one two three four five six seven eight nine ten',
  openConnections: () => 0,
  [Symbol.asyncDispose]: async () => {},
}));

test('/slow 1 sends its first word immediately and the others evenly over 1 s', async (t) => {
  cites(t, 'contract-1-slow');
  const timersMs: number[] = [];
  const timersBefore: number[] = [];
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type === 'Timeout') timersMs.push((resource as { _idleTimeout: number })._idleTimeout);
    },
  });
  t.after(() => hook.disable());
  const listener = new Listener();
  listener.text = () => timersBefore.push(timersMs.length);
  hook.enable();
  await offlineModel.call(modelRequest('/slow 1'), listener, new AbortController().signal);
  const pauses = timersBefore.length - 1;
  assert.ok(pauses > 5);
  assert.deepEqual(
    timersBefore,
    timersBefore.map((_, index) => index),
  );
  for (const ms of timersMs) assert.ok(Math.abs(ms - 1000 / pauses) < 2, `a pause of ${ms} ms`);
});
