import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { endlessPdf, makePdf, pdfBomb, pdfOfPages, slowPdf } from '@runwire/test-kit/large-documents.ts';
import { makeDocx, makeXlsx } from '@runwire/test-kit/office-packages.ts';
import { documentReader, getReason, toText } from '@runwire/test-kit/read-document.ts';
import { convert } from './convert.ts';
import { DEFAULT_DOCUMENT_LIMITS } from './document-limits.ts';

const reader = documentReader();
after(() => reader[Symbol.asyncDispose]());

test('shows the first 500 of 10 000 pages and notes it in the last line', async () => {
  const text = await toText(reader, pdfOfPages(10_000));
  assert.ok(text.endsWith('[Page 500]\nPage 500 speaks.\n\n[Cut here: pages 1 to 500 of 10000 are shown.]\n'));
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

test('if the time is up, the pages that were read are sent with a note', async () => {
  await using hurried = documentReader({ conversionMs: 5000, characters: 1e9 });
  const text = await toText(hurried, endlessPdf());
  assert.equal(text, '[Page 1]\nPage 1 speaks.\n\n[Cut here: page 1 of 2 is shown; reading took longer than 5 s.]\n');
});

test('a page with extreme compression or memory use fails in its own process', async () => {
  const before = process.memoryUsage.rss();
  assert.match(await getReason(reader, pdfBomb(10_000_000_000)), /^is too complex: reading it needs more memory/);
  const many = '<w:p><w:r><w:t>word</w:t></w:r></w:p>'.repeat(2_000_000);
  assert.match(await getReason(reader, makeDocx(many)), /^is too complex: reading it needs more memory/);
  assert.ok(process.memoryUsage.rss() - before < 600_000_000);
  assert.match(await toText(reader, pdfOfPages(1)), /Page 1 speaks/);
});

test('reading a large PDF does not block this thread', async () => {
  const size = 8 * 1024 * 1024;
  const spent = async (work: () => Promise<unknown>) => {
    const start = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(start);
    return user + system;
  };
  const there = slowPdf(size);
  let turns = 0;
  let reading = true;
  const beside = await spent(async () => {
    const read = toText(reader, there).finally(() => {
      reading = false;
    });
    while (reading) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      turns += 1;
    }
    assert.match(await read, /\[Page 400\]\nPage 400 speaks\.\n$/);
  });
  const given = { bytes: slowPdf(size), contentType: null, name: 'x', kind: 'input_file' } as const;
  const here = await spent(() =>
    convert({ ...given, limits: DEFAULT_DOCUMENT_LIMITS, pdf: false, wholePart: () => {} }),
  );
  assert.ok(beside * 3 < here, `${beside} µs beside, ${here} µs here`);
  assert.ok(turns > 10, `${turns} turns`);
});
