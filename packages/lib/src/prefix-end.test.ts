import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prefixEnd } from './prefix-end.ts';

test('the end of a prefix is after all texts with it and before all others', () => {
  assert.equal(prefixEnd('ann'), 'ano');
  assert.equal(prefixEnd('a\u{10FFFF}\u{10FFFF}'), 'b');
  assert.equal(prefixEnd('\uD7FF'), '\uE000');
  assert.equal(prefixEnd('\uFFFF'), '\u{10000}');
  assert.equal(prefixEnd('😀'), '😁');
  assert.equal(prefixEnd('\u{10FFFF}'), null);
});
