import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Excerpt } from './excerpt.ts';

test('adds nothing more of a line after a character that did not fit', () => {
  const excerpt = new Excerpt({ firstLine: 1, firstCharacter: 1, lines: 2, lineCharacters: 4, characters: 100 });
  excerpt.take({ line: 1, at: 0, text: 'abc😀', endsLine: false });
  excerpt.take({ line: 1, at: 5, text: 'de', endsLine: true });
  excerpt.take({ line: 2, at: 0, text: 'next', endsLine: true });
  assert.deepEqual(excerpt.lines, ['abc… [4 more characters in this line]', 'next']);
  assert.deepEqual(excerpt.cut, [{ line: 1, shownTo: 3 }]);
});

test('a line that fits exactly is complete', () => {
  const excerpt = new Excerpt({ firstLine: 1, firstCharacter: 1, lines: 2, lineCharacters: 4, characters: 100 });
  excerpt.take({ line: 1, at: 0, text: 'ab', endsLine: false });
  excerpt.take({ line: 1, at: 2, text: 'cd', endsLine: false });
  excerpt.take({ line: 1, at: 4, text: '', endsLine: true });
  assert.deepEqual([excerpt.lines, excerpt.cut], [['abcd'], []]);
});
