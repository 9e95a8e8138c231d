import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, jsonLine, shortened, visible, wrapped } from './output.ts';
import { plot } from './plot.ts';
import { barLine } from './progress-bar.ts';

test('texts of others cannot control the terminal', () => {
  assert.equal(visible('\u001b]0;title\u0007a\u009b31mb\r\n\tc'), ']0;titlea31mb\n\tc');
  assert.equal(visible('pay \u202e09\u202c \u2066to\u2069 \u200ebob\u061c'), 'pay 09 to bob');
  assert.equal(shortened('one\ntwo  three', 100), 'one two  three');
  assert.equal(shortened('abcdef', 4), 'abc…');
});

test('JSON in a terminal escapes what could control it; a pipe gets it unchanged', () => {
  const value = { name: '\u001b[31m\u007f\u009b31mEve\u202e\u2066é\n' };
  const to = (isTTY: boolean) => jsonLine(value, { isTTY } as NodeJS.WriteStream);
  assert.equal(to(true), '{"name":"\\u001b[31m\\u007f\\u009b31mEve\\u202e\\u2066é\\n"}');
  assert.deepEqual(JSON.parse(to(true)), value);
  assert.equal(to(false), JSON.stringify(value));
});

test('long sentences are broken at spaces', () => {
  assert.deepEqual(wrapped('one two three-hundred four', 8), ['one two', 'three-hundred', 'four']);
  assert.deepEqual(wrapped('one two', Number.POSITIVE_INFINITY), ['one two']);
});

test('sizes, bars and progress fit their columns', () => {
  assert.deepEqual([0, 1023, 1024, 5_500_000].map(bytes), ['0 B', '1023 B', '1.0 KiB', '5.2 MiB']);
  assert.deepEqual(
    plot(
      [
        { label: 'a', value: 1000 },
        { label: 'bc', value: 250 },
        { label: 'd', value: 0 },
      ],
      27,
    ),
    ['a   1,000  ████████████████', 'bc    250  ████', 'd       0'],
  );
  assert.equal(barLine('a.bin', 1024, 2048), `a.bin${' '.repeat(24)}${'█'.repeat(12)}${'░'.repeat(12)}  50 %  2.0 KiB`);
  assert.ok(barLine('x'.repeat(100), 1, 2 ** 30).length <= 80);
});
