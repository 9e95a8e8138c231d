import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foreseenBytes } from './quota.ts';

const measured = (bytes: number, sizes: Record<string, number>) => ({
  beganAt: 0,
  countsFrom: 0,
  bytes,
  sizes: new Map(Object.entries(sizes)),
});
const promise = (path: string, sizeBytes: number) => ({ path, sizeBytes });

test('what is promised is added to what is there', () => {
  assert.deepEqual(foreseenBytes(measured(10, { a: 0, b: 0 }), [promise('a', 5), promise('b', 7)]), {
    bytes: 22,
    unmeasured: [],
  });
});

test('a file that has arrived is not counted beside its form', () => {
  assert.equal(foreseenBytes(measured(15, { a: 5 }), [promise('a', 5)]).bytes, 15);
});

test('a file that is replaced counts by what the new one is larger, and by nothing where it is smaller', () => {
  assert.equal(foreseenBytes(measured(15, { a: 5 }), [promise('a', 8)]).bytes, 18);
  assert.equal(foreseenBytes(measured(15, { a: 5 }), [promise('a', 3)]).bytes, 15);
});

test('of several forms for one path the largest counts, whichever arrived', () => {
  const forms = [promise('a', 3), promise('a', 9), promise('a', 4)];
  assert.equal(foreseenBytes(measured(0, { a: 0 }), forms).bytes, 9);
  assert.equal(foreseenBytes(measured(4, { a: 4 }), forms).bytes, 9);
});

test('a path that was not measured counts in full, and is named', () => {
  assert.deepEqual(foreseenBytes(measured(5, {}), [promise('a', 5)]), { bytes: 10, unmeasured: ['a'] });
});
