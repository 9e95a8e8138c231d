import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { MAX_PROGRESS_CHARACTERS, ToolProgress } from './tool-progress.ts';

/** Progress on a clock of the test, with the times at which it was emitted. */
function stage() {
  mock.timers.enable({ apis: ['setTimeout'] });
  let now = 1000;
  mock.method(performance, 'now', () => now);
  const emitted: [number, string][] = [];
  const room = { isFull: false, onceRoom: () => {} };
  const progress = new ToolProgress(room, (text) => emitted.push([now - 1000, text]));
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= 1) {
      now += 1;
      mock.timers.tick(1);
    }
  };
  return { progress, emitted, room, pass, [Symbol.dispose]: () => mock.reset() };
}

test('emits the first report immediately, then the newest of each pause', () => {
  using at = stage();
  for (let n = 0; n <= 300; n += 10) {
    at.progress.report(`at ${n}`);
    at.pass(10);
  }
  assert.deepEqual(at.emitted, [
    [0, 'at 0'],
    [112, 'at 110'],
    [224, 'at 220'],
  ]);
  at.progress.finish();
  assert.deepEqual(at.emitted.at(-1), [310, 'at 300']);
});

test('no second has more than 10 reports, and the last one is never lost', () => {
  for (const everyMs of [1, 7, 50, 99, 100, 101, 111, 112, 113, 250]) {
    using at = stage();
    let last = '';
    for (let n = 0; n < 3000; n += everyMs) {
      last = String(n);
      at.progress.report(last);
      at.pass(everyMs);
    }
    last = 'last';
    at.progress.report(last);
    at.progress.finish();
    assert.equal(at.emitted.at(-1)?.[1], last, `every ${everyMs} ms`);
    for (const [from] of at.emitted) {
      const count = at.emitted.filter(([time]) => time >= from && time < from + 1000).length;
      assert.ok(count <= 10, `${count} within 1 s, reported every ${everyMs} ms`);
    }
  }
});

test('emits nothing after the end of the call', () => {
  using at = stage();
  at.progress.report('one');
  at.progress.report('two');
  at.progress.finish();
  at.progress.report('three');
  at.pass(500);
  at.progress.finish();
  assert.deepEqual(at.emitted, [
    [0, 'one'],
    [0, 'two'],
  ]);
});

test('emits nothing more after it was dropped', () => {
  using at = stage();
  at.progress.report('one');
  at.progress.report('two');
  at.progress.drop();
  at.pass(500);
  at.progress.finish();
  assert.deepEqual(at.emitted, [[0, 'one']]);
});

test('waits while the log is full', () => {
  using at = stage();
  at.room.isFull = true;
  for (let n = 0; n < 50; n += 1) {
    at.progress.report(n);
    at.pass(20);
  }
  assert.equal(at.emitted.length, 0);
  at.room.isFull = false;
  at.pass(112);
  assert.deepEqual(
    at.emitted.map(([, text]) => text),
    ['49'],
  );
});

test('shows values as JSON, cuts long texts, and ignores what has no text', () => {
  using at = stage();
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  for (const value of [{ done: 1 }, undefined, '', 1n, cyclic, `${'x'.repeat(MAX_PROGRESS_CHARACTERS - 1)}😀`]) {
    at.progress.report(value);
    at.pass(200);
  }
  assert.deepEqual(
    at.emitted.map(([, text]) => text),
    ['{"done":1}', 'x'.repeat(MAX_PROGRESS_CHARACTERS - 1)],
  );
});
