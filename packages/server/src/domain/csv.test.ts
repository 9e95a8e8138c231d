import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeCsvRow } from './csv.ts';

test('encodes a row as in RFC 4180', () => {
  assert.equal(encodeCsvRow(['a', 'b c', 5, null]), 'a,b c,5,\r\n');
  assert.equal(encodeCsvRow(['a,b', 'say "hi"', 'two\nlines', 'x\ry']), '"a,b","say ""hi""","two\nlines","x\ry"\r\n');
  assert.equal(encodeCsvRow([' a ']), '" a "\r\n');
});

test('turns formulas into plain text and keeps numbers', () => {
  for (const start of ['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
    assert.equal(encodeCsvRow([`${start}1+1`]), `'${start}1+1\r\n`);
  }
  assert.equal(encodeCsvRow(['=HYPERLINK("http://x","y")']), `"'=HYPERLINK(""http://x"",""y"")"\r\n`);
  assert.equal(encodeCsvRow(['\t=1']), "'\t=1\r\n");
  for (const start of ['\r', '\n']) assert.equal(encodeCsvRow([`${start}=1`]), `"'${start}=1"\r\n`);
  assert.equal(encodeCsvRow([-1, 'a=b']), '-1,a=b\r\n');
});
