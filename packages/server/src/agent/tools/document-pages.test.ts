import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DocumentPages } from './document-pages.ts';

test('knows the first line of each page and the page of each line', () => {
  const pages = new DocumentPages('[Page 1]\none\n\n[Page 2]\n\n\n[Page 3]\nthree\n');
  assert.equal(pages.count, 3);
  assert.deepEqual(
    [1, 2, 3, 4].map((page) => pages.toLine(page)),
    [1, 4, 7, null],
  );
  assert.deepEqual(
    [1, 3, 4, 6, 7, 8].map((line) => pages.of(line)),
    [1, 1, 2, 2, 3, 3],
  );
});

test('a line of a page that looks like a mark begins no page', () => {
  const pages = new DocumentPages('[Page 1]\n[Page 2]\n\n[Page 3]\n\n[Page 1]\n\n[Page 2]\ntwo\n');
  assert.deepEqual([pages.count, pages.toLine(2)], [2, 8]);
});

test('a text without pages has none', () => {
  for (const text of ['', 'one\n\n[Page 1]\ntwo', '[Sheet: One]\n1\n']) {
    const pages = new DocumentPages(text);
    assert.deepEqual([pages.count, pages.of(1), pages.toLine(1)], [0, null, null]);
  }
});
