import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAttachment } from './content-disposition.ts';

const decoded = (header: string) => decodeURIComponent(/filename\*=UTF-8''(\S+)$/.exec(header)?.[1] ?? '');

test('sends the full name by RFC 8187 and an ASCII name for old clients', () => {
  assert.equal(
    toAttachment('my photo (1).png'),
    `attachment; filename="my photo (1).png"; filename*=UTF-8''my%20photo%20%281%29.png`,
  );
  assert.equal(
    toAttachment('写真😀.png'),
    `attachment; filename="___.png"; filename*=UTF-8''%E5%86%99%E7%9C%9F%F0%9F%98%80.png`,
  );
});

test('no name can end the header, escape its quotes or set another name', () => {
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
    const header = toAttachment(name);
    assert.match(header, /^attachment; filename="[^"\\%\r\n]*"; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+$/, name);
    assert.equal(decoded(header), name);
  }
});
