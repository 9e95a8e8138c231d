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

test('adds open forms to the stored files', () => {
  assert.deepEqual(foreseenBytes(measured(10, { a: 0, b: 0 }), [promise('a', 5), promise('b', 7)]), {
    bytes: 22,
    unmeasured: [],
  });
});

test('a stored file is not counted together with its form', () => {
  assert.equal(foreseenBytes(measured(15, { a: 5 }), [promise('a', 5)]).bytes, 15);
});

test('a replaced file counts by the difference, and a smaller one by nothing', () => {
  assert.equal(foreseenBytes(measured(15, { a: 5 }), [promise('a', 8)]).bytes, 18);
  assert.equal(foreseenBytes(measured(15, { a: 5 }), [promise('a', 3)]).bytes, 15);
});

test('the largest of several forms for one path counts', () => {
  const forms = [promise('a', 3), promise('a', 9), promise('a', 4)];
  assert.equal(foreseenBytes(measured(0, { a: 0 }), forms).bytes, 9);
  assert.equal(foreseenBytes(measured(4, { a: 4 }), forms).bytes, 9);
});

test('a path that was not measured counts in full and is reported', () => {
  assert.deepEqual(foreseenBytes(measured(5, {}), [promise('a', 5)]), { bytes: 10, unmeasured: ['a'] });
});
