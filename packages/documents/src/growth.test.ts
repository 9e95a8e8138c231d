import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthOf, MAX_LINEAR_GROWTH } from '@runwire/test-kit/growth.ts';
import { claimsOf } from './claimed-type.ts';
import { DEFAULT_DOCUMENT_LIMITS } from './document-limits.ts';
import { timeFormat } from './ooxml/excel-dates.ts';
import { readText } from './read-text.ts';
import { sniff } from './sniff.ts';

/** For any text, four times as much of it takes about four times as long. */
function growsLinearly(pieces: readonly string[], end: string, work: (text: string) => unknown, size: number): void {
  for (const piece of pieces) {
    const growth = growthOf((times) => `${piece.repeat(times / piece.length)}${end}`, work, size);
    assert.ok(growth < MAX_LINEAR_GROWTH, `${JSON.stringify(piece)} repeated: ${growth}`);
  }
}

test('the time to read a text grows with its length, whatever it repeats', () => {
  const claims = claimsOf('text/plain', 'a.txt');
  const limits = { ...DEFAULT_DOCUMENT_LIMITS, characters: 1e9 };
  growsLinearly(
    ['\n', ' ', '\r', '<!--'],
    '\xe9x',
    (text) => {
      const bytes = Buffer.from(text, 'latin1');
      sniff(bytes, claims);
      readText(bytes, claims, limits);
    },
    8000,
  );
});

test('the time to parse a number format grows with its length', () => {
  growsLinearly(['[', '[h', '"'], 'x', (code) => timeFormat(164, code), 8000);
});

test('the time to parse a file name and a header grows with their length', () => {
  growsLinearly(['; ', 'a.'], 'x', (text) => claimsOf(text, text), 8000);
});
