import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseReading } from './file-conditions.ts';

const file = {
  kind: 'file',
  path: 'a.txt',
  size: 10,
  etag: '"one"',
  contentType: 'text/plain',
  modifiedAt: Date.parse('2030-01-01T00:00:10.500Z'),
};
const reading = (headers: Record<string, string>, of = file) => chooseReading(of, headers);
const part = (first: number, last: number) => ({ kind: 'part', range: { first, last } });

test('cuts a byte range at the end of the file', () => {
  assert.deepEqual(reading({ range: 'bytes=0-0' }), part(0, 0));
  assert.deepEqual(reading({ range: 'bytes=2-5' }), part(2, 5));
  assert.deepEqual(reading({ range: 'bytes=2-' }), part(2, 9));
  assert.deepEqual(reading({ range: 'bytes=2-99999' }), part(2, 9));
  assert.deepEqual(reading({ range: 'bytes=-3' }), part(7, 9));
  assert.deepEqual(reading({ range: 'bytes=-99' }), part(0, 9));
});

test('refuses a range after the end and ignores an invalid range', () => {
  for (const range of ['bytes=10-', 'bytes=10-12', 'bytes=-0']) {
    assert.deepEqual(reading({ range }), { kind: 'no-such-range' }, range);
  }
  assert.deepEqual(reading({ range: 'bytes=0-' }, { ...file, size: 0 }), { kind: 'no-such-range' });
  for (const range of [
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=5-2',
    'lines=1-2',
    'bytes=0-1,3-4',
    'bytes=1e3-',
  ]) {
    assert.deepEqual(reading({ range }), { kind: 'whole' }, range);
  }
});

test('ignores the range if If-Range names another entity tag', () => {
  const range = 'bytes=2-5';
  assert.deepEqual(reading({ range, 'if-range': '"one"' }), part(2, 5));
  for (const other of ['"two"', 'W/"one"', 'one', 'Tue, 01 Jan 2030 00:00:10 GMT']) {
    assert.deepEqual(reading({ range, 'if-range': other }), { kind: 'whole' }, other);
  }
  const weak = { ...file, etag: 'W/"one"' };
  assert.deepEqual(reading({ range, 'if-range': 'W/"one"' }, weak), { kind: 'whole' }, 'a weak one says too little');
});

test('answers 304 before it looks at a range', () => {
  for (const none of ['"one"', 'W/"one"', '"zero", "one"', '*', ' * ']) {
    assert.deepEqual(reading({ 'if-none-match': none, range: 'bytes=99-' }), { kind: 'unchanged' }, none);
  }
  for (const none of ['"two"', 'one', '']) {
    assert.deepEqual(reading({ 'if-none-match': none }), { kind: 'whole' }, none);
  }
});

test('compares If-Modified-Since in seconds, only without If-None-Match', () => {
  assert.deepEqual(reading({ 'if-modified-since': 'Tue, 01 Jan 2030 00:00:10 GMT' }), { kind: 'unchanged' });
  assert.deepEqual(reading({ 'if-modified-since': 'Tue, 01 Jan 2030 00:00:09 GMT' }), { kind: 'whole' });
  assert.deepEqual(reading({ 'if-modified-since': 'yesterday' }), { kind: 'whole' });
  const both = { 'if-none-match': '"two"', 'if-modified-since': 'Tue, 01 Jan 2030 00:00:10 GMT' };
  assert.deepEqual(reading(both), { kind: 'whole' });
});
