import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pdfOfPages, slowPdf } from '@runwire/test-kit/large-documents.ts';
import { documentReader, getReason, readBytes } from '@runwire/test-kit/read-document.ts';

const reader = documentReader();
after(() => reader[Symbol.asyncDispose]());

test('a PDF with more pages than a model accepts is sent as text', async () => {
  assert.equal((await readBytes(reader, pdfOfPages(100), { pdf: true })).form, 'pdf');
  assert.equal((await readBytes(reader, pdfOfPages(101), { pdf: true })).form, 'text');
});

test('a file that cannot be read in time is unreadable', async () => {
  await using hurried = documentReader({ conversionMs: 1 });
  assert.match(await getReason(hurried, slowPdf(1_000_000)), /could not be read within 0\.001 s/);
});
