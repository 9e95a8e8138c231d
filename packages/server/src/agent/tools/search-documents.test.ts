import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DocumentReader } from '@runwire/documents';
import { askTool, askToSearch, pdfOfPages, TestFiles } from '@runwire/test-kit';
import { sampleDocument } from '@runwire/test-kit/sample-documents.ts';
import { makePng } from '@runwire/test-kit/sample-images.ts';
import { SEARCH_LIMITS, searchFilesWithin } from './search-files.ts';

const PDF = 'application/pdf';
const OTHER = 'application/octet-stream';

/** Searches with these limits. The time limit is long by default: on a busy machine a process starts slowly. */
const searchWithin = (stored: TestFiles, limits: object, input: object = { text: 'speaks' }) =>
  askTool(
    [searchFilesWithin({ ...SEARCH_LIMITS, ms: 120_000, ...limits })(stored.seenBy('one'))],
    'search_files',
    input,
  );

test('finds a text in documents, and names line and page', async () => {
  await using stored = await TestFiles.open();
  await stored.put('one', '/app/mnt/a.pdf', pdfOfPages(3), PDF);
  await stored.put('one', '/app/mnt/b.xlsx', sampleDocument('openpyxl.xlsx'), OTHER);
  await stored.put('one', '/app/mnt/c.csv', sampleDocument('utf16.csv'), 'text/csv');
  await stored.put('one', '/app/mnt/d.txt', 'Page 2 speaks.');
  await stored.put('one', '/app/mnt/e.pdf', sampleDocument('encrypted.pdf'), PDF);
  await stored.put('one', '/app/mnt/f.png', makePng(100), 'image/png');
  const searched =
    '4 files below /app/mnt searched; 1 file skipped (not text); 1 document could not be read (read_file reports the reason).';
  // The second search reads the stored texts.
  for (const _ of [1, 2]) {
    assert.equal(
      await searchWithin(stored, {}, { text: 'PAGE 2 speaks', ignore_case: true }),
      [
        `2 matching lines, ${searched}`,
        '/app/mnt/a.pdf:5 (page 2): Page 2 speaks.',
        '/app/mnt/d.txt:1: Page 2 speaks.',
      ].join('\n'),
    );
  }
  assert.match(await searchWithin(stored, {}, { text: 'amber fox' }), /\n\/app\/mnt\/b\.xlsx:7: ,The amber fox weighs/);
  assert.match(
    await searchWithin(stored, {}, { text: 'café' }),
    /\n\/app\/mnt\/c\.csv:\d+: .*The olive heron sorts five keys: café\./,
  );
});

test('conversions count in the bytes and the time of a search', async () => {
  const reader: Pick<DocumentReader, 'read'> = {
    read: (_, __, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
  };
  await using slow = await TestFiles.open({ reader });
  await slow.put('one', '/app/mnt/a.txt', 'speaks');
  await slow.put('one', '/app/mnt/b.pdf', pdfOfPages(1), PDF);
  await slow.put('one', '/app/mnt/c.txt', 'speaks');
  assert.equal(
    await searchWithin(slow, { ms: 300 }),
    [
      '1 matching line, 1 file below /app/mnt searched.',
      '/app/mnt/a.txt:1: speaks',
      '[Stopped after 0.3 seconds while /app/mnt/b.pdf was converted: there may be more. Read that file with read_file first, or name a folder further down.]',
    ].join('\n'),
  );
  await using stored = await TestFiles.open();
  for (const name of ['a', 'b']) await stored.put('one', `/app/mnt/${name}.pdf`, pdfOfPages(20), PDF);
  const first = await searchWithin(stored, { bytes: 4000 });
  assert.match(first, /^20 matching lines, 1 file .*\[Stopped after 4000 bytes: /s);
  // The stored text is shorter than the document, so the search gets further.
  assert.match(await searchWithin(stored, { bytes: 4000 }), /^40 matching lines, 2 files /);
});

test('a search that is stopped stops the conversion', async () => {
  const stopped = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const reader: Pick<DocumentReader, 'read'> = {
    read: (_, __, signal) =>
      new Promise((_resolve, reject) => {
        began.resolve();
        signal.addEventListener('abort', () => {
          stopped.resolve();
          reject(signal.reason);
        });
      }),
  };
  await using stored = await TestFiles.open({ reader });
  await stored.put('one', '/app/mnt/b.pdf', pdfOfPages(1), PDF);
  const stop = new AbortController();
  const searching = askToSearch(stored.seenBy('one'), { text: 'a' }, stop.signal);
  await began.promise;
  stop.abort(new Error('The run was cancelled.'));
  assert.equal(await searching, 'The tool failed: The run was cancelled.');
  await stopped.promise;
});
