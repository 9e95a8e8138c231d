import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REFUSED_SAMPLES, SAMPLE_SENTENCES, sampleDocument } from '@runwire/test-kit/sample-documents.ts';
import { SAMPLE_IMAGES } from '@runwire/test-kit/sample-images.ts';
import { type StoredKind, storedKind } from './stored-kind.ts';

function expectKind(expected: StoredKind, content: string | Uint8Array, name: string, type: string | null = null) {
  assert.equal(storedKind(Buffer.from(content as string), type, name), expected, `${name}, ${type}`);
}

test('documents of other programs are documents', () => {
  for (const name of [...Object.keys(SAMPLE_SENTENCES), ...Object.keys(REFUSED_SAMPLES)]) {
    expectKind('document', sampleDocument(name), name);
  }
  for (const base64 of Object.values(SAMPLE_IMAGES)) expectKind('image', Buffer.from(base64, 'base64'), 'a');
});

test('a text that begins like a web page is HTML unless its name is of another text', () => {
  const page = '<div>one</div>';
  expectKind('document', page, 'a');
  expectKind('document', page, 'a.html');
  expectKind('document', page, 'a', 'text/html; charset=utf-8');
  for (const name of ['README.md', 'a.xml', 'a.txt', 'a.pdf']) expectKind('text', page, name);
  expectKind('text', page, 'a', 'text/plain');
});

test('a table with commas is a document in every character set, by its name or type', () => {
  for (const text of [Buffer.from('Größe,1\n'), Buffer.from('Größe,1\n', 'latin1')]) {
    expectKind('document', text, 'a.CSV');
    expectKind('document', text, 'a', 'text/csv; charset=utf-8');
    expectKind('document', text, 'a', 'application/csv');
  }
  expectKind('text', 'a\tb\n', 'a.tsv');
  // The name takes precedence over the type.
  expectKind('text', 'a,b\n', 'a.txt', 'text/csv');
});

test('text that is not UTF-8 is converted, and bytes that are no text are not', () => {
  expectKind('text', 'Größe', 'a');
  expectKind('text', Buffer.from('Größe').subarray(0, 3), 'a');
  expectKind('text', '', 'a');
  expectKind('document', Buffer.from('Größe', 'latin1'), 'a');
  expectKind('document', 'Gr\x1b$B', 'a', 'text/plain; charset=iso-2022-jp');
  expectKind('other', Buffer.from([0, 1, 2, 3]), 'a.txt');
});
