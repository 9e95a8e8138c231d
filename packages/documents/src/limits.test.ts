import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePdf, pdfOfPages, slowPdf } from '@runwire/test-kit/large-documents.ts';
import { makeDocx, makeXlsx } from '@runwire/test-kit/office-packages.ts';
import { documentReader, getReason, readBytes, toText } from '@runwire/test-kit/read-document.ts';

const reader = documentReader();
after(() => reader[Symbol.asyncDispose]());

test('shows the first 500 of 10 000 pages and notes it in the last line', async () => {
  const text = await toText(reader, pdfOfPages(10_000));
  assert.ok(text.endsWith('[Page 500]\nPage 500 speaks.\n\n[Cut here: pages 1 to 500 of 10000 are shown.]\n'));
});

test('a PDF with more pages than a model accepts is sent as text', async () => {
  assert.equal((await readBytes(reader, pdfOfPages(100), { pdf: true })).form, 'pdf');
  assert.equal((await readBytes(reader, pdfOfPages(101), { pdf: true })).form, 'text');
});

test('cuts too many characters, and the last line names the page or sheet', async () => {
  await using short = documentReader({ characters: 60 });
  const pdf = await toText(short, pdfOfPages(50));
  assert.match(pdf, /^\[Page 1\]\nPage 1 speaks\.\n\n\[Page 2\]\nPage 2 speaks\.\n\n\[Page 3/);
  assert.match(pdf, /\n\n\[Cut here: the first 60 characters are shown, which end on page 3 of 50\.\]\n$/);
  const rows = Array.from({ length: 100_000 }, (_, index) => `<row><c><v>${index}</v></c></row>`).join('');
  const sheet = await toText(short, makeXlsx(rows));
  assert.match(sheet, /^\[Sheet: One\]\n0\n1\n2\n/);
  assert.match(sheet, /\n\n\[Cut here: the first 60 characters are shown, which end in sheet 1 of 1\.\]\n$/);
  const docx = await toText(short, makeDocx('<w:p><w:r><w:t>word</w:t></w:r></w:p>'.repeat(1000)));
  assert.match(docx, /\n\n\[Cut here: the first 60 of 5999 characters are shown\.\]\n$/);
  const page = await toText(short, makePdf([`BT /F1 9 Tf ${'(many words) Tj '.repeat(200_000)} ET`]));
  assert.match(page, /which end on page 1 of 1\.\]\n$/);
});

test('a file that cannot be read in time is unreadable', async () => {
  await using hurried = documentReader({ conversionMs: 1 });
  assert.match(await getReason(hurried, slowPdf(1_000_000)), /could not be read within 0\.001 s/);
});
