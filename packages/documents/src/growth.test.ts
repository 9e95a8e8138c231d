import { test } from 'node:test';
import { assertLinear } from '@runwire/test-kit/growth.ts';
import { listClaims } from './claimed-type.ts';
import { DEFAULT_DOCUMENT_LIMITS } from './document-limits.ts';
import { timeFormat } from './ooxml/excel-dates.ts';
import { readText } from './read-text.ts';
import { sniff } from './sniff.ts';

/** For any text: the time grows with its length. */
function growsLinearly(pieces: readonly string[], end: string, work: (text: string) => unknown, size: number): void {
  for (const piece of pieces) {
    const toText = (times: number) => `${piece.repeat(times / piece.length)}${end}`;
    assertLinear(`${JSON.stringify(piece)} repeated`, toText, work, size);
  }
}

test('the time to read a text grows with its length, whatever it repeats', () => {
  const claims = listClaims('text/plain', 'a.txt');
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
  growsLinearly(['; ', 'a.'], 'x', (text) => listClaims(text, text), 8000);
});
