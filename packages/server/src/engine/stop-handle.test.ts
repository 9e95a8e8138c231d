import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunFailure } from '../domain/run/run-failure.ts';
import { StopHandle, type StopReason } from './stop-handle.ts';

const failed: StopReason = { kind: 'failed', failure: new RunFailure('run_timeout', 'The run took too long.') };
const strongestFirst: readonly StopReason[] = [
  { kind: 'lost' },
  { kind: 'shut_down', betweenSteps: false },
  { kind: 'refused', error: new Error('refused') },
  { kind: 'cancelled' },
  failed,
];

test('keeps the stronger of two reasons, in either order', () => {
  for (const [rank, stronger] of strongestFirst.entries()) {
    for (const weaker of [
      ...strongestFirst.slice(rank + 1),
      ...(stronger === failed ? [] : [{ kind: 'handed_over' } as const]),
    ]) {
      const [up, down] = [new StopHandle(), new StopHandle()];
      up.now(weaker);
      up.now(stronger);
      assert.equal(up.reason, stronger);
      down.now(stronger);
      down.now(weaker);
      assert.equal(down.reason, stronger);
    }
  }
});

test('a limit and a handover do not replace each other', () => {
  const limited = new StopHandle();
  limited.handOver();
  limited.now(failed);
  assert.throws(() => limited.stepDone(true), { name: 'AbortError' });
  assert.equal(limited.reason, failed);
  const handedOver = new StopHandle();
  handedOver.handOver();
  assert.throws(() => handedOver.stepDone(true), { name: 'AbortError' });
  handedOver.now(failed);
  assert.deepEqual(handedOver.reason, { kind: 'handed_over' });
});

test('a shutdown remembers that the run was being handed over', () => {
  const stop = new StopHandle();
  stop.handOver();
  assert.throws(() => stop.stepDone(true), { name: 'AbortError' });
  stop.shutDown();
  assert.deepEqual(stop.reason, { kind: 'shut_down', betweenSteps: true });
});

test('a cancel after the step wins over a handover, in either order', () => {
  for (const cancelFirst of [true, false]) {
    const stop = new StopHandle();
    if (cancelFirst) stop.cancel('after_step');
    stop.handOver();
    if (!cancelFirst) stop.cancel('after_step');
    assert.equal(stop.signal.aborted, false);
    assert.throws(() => stop.stepDone(true), { name: 'AbortError' });
    assert.deepEqual(stop.reason, { kind: 'cancelled' });
  }
});

test('waits with a handover for a step after which it is allowed', () => {
  const stop = new StopHandle();
  stop.handOver();
  stop.stepDone(false);
  assert.equal(stop.reason, null);
  assert.throws(() => stop.stepDone(true), { name: 'AbortError' });
});
