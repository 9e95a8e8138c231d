import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentOf } from './content-disposition.ts';

const decoded = (header: string) => decodeURIComponent(/filename\*=UTF-8''(\S+)$/.exec(header)?.[1] ?? '');

test('a file’s name is given whole to who reads RFC 8187, and as plain ASCII to who does not', () => {
  assert.equal(
    attachmentOf('my photo (1).png'),
    `attachment; filename="my photo (1).png"; filename*=UTF-8''my%20photo%20%281%29.png`,
  );
  assert.equal(
    attachmentOf('写真😀.png'),
    `attachment; filename="___.png"; filename*=UTF-8''%E5%86%99%E7%9C%9F%F0%9F%98%80.png`,
  );
});

test('no name ends the header, quotes out of it, or says another name', () => {
  for (const name of [
    'a"; filename="b.exe',
    "a'b*c.txt",
    '100%41.txt',
    'a;b=c',
    'a<b>',
    '-rf',
    '\u202egnp.exe',
    '$(id)',
  ]) {
    const header = attachmentOf(name);
    assert.match(header, /^attachment; filename="[^"\\%\r\n]*"; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+$/, name);
    assert.equal(decoded(header), name);
  }
});
