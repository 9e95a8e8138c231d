import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from './turns.ts';

test('each has a turn, however many another has; what is removed has none', () => {
  const turns = new Turns<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2']) turns.add(item.charAt(0), item);
  turns.remove('c', 'c1');
  turns.remove('a', 'a3');
  turns.remove('nobody', 'x');
  assert.deepEqual(
    Array.from({ length: 6 }, () => turns.take()),
    ['a1', 'b1', 'a2', 'b2', 'a4', undefined],
  );
});
