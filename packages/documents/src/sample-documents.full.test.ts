import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePdf, pdfOfPages } from '@runwire/test-kit/large-documents.ts';
import { documentReader, getReason, readBytes, textOrReason, toText } from '@runwire/test-kit/read-document.ts';
import { REFUSED_SAMPLES, SAMPLE_SENTENCES, sampleDocument } from '@runwire/test-kit/sample-documents.ts';
import { DOCX_TYPE, XLSX_TYPE } from './ooxml/package-kind.ts';
import { filledFields } from './pdf-form.ts';

const reader = documentReader();
after(() => reader[Symbol.asyncDispose]());

const TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  docx: DOCX_TYPE,
  xlsx: XLSX_TYPE,
  html: 'text/html',
  csv: 'text/csv',
};

for (const [name, sentence] of Object.entries(SAMPLE_SENTENCES)) {
  test(`the sentence on the second page or sheet of ${name} is read`, async () => {
    const outcome = await textOrReason(reader, sampleDocument(name), { name });
    assert.ok('text' in outcome, JSON.stringify(outcome));
    assert.ok(outcome.text.includes(sentence), outcome.text);
    assert.equal(outcome.mediaType, TYPES[name.split('.')[1] ?? '']);
  });
}

for (const [name, reason] of Object.entries(REFUSED_SAMPLES)) {
  test(`${name} is refused with the reason`, async () => {
    assert.ok((await getReason(reader, sampleDocument(name), { name })).startsWith(reason));
  });
}

test('detects the type by the bytes, without a name and with a wrong header', async () => {
  for (const name of ['chromium.pdf', 'pandoc.docx', 'openpyxl.xlsx']) {
    const plain = await toText(reader, sampleDocument(name), { name });
    assert.equal(await toText(reader, sampleDocument(name), { name: 'x', contentType: 'text/plain' }), plain);
  }
});

test('pages have numbers, and Greek, Cyrillic, Japanese and Hebrew are read', async () => {
  const text = await toText(reader, sampleDocument('chromium.pdf'));
  assert.match(text, /^\[Page 1\]\nHarbour report\n/);
  const second = text.slice(text.indexOf('[Page 2]'));
  for (const words of ['Καλημέρα κόσμε. Доброе утро.', '日本語の文章です。港は静かだ。', 'שלום עולם']) {
    assert.ok(second.includes(words), second);
  }
});

test('shows filled-in form fields under their page and leaves out empty ones', async () => {
  assert.equal(
    await toText(reader, sampleDocument('filled-form.pdf')),
    `[Page 1]
Application for a berth
[Form fields of this page]
Name of applicant: The harbour
ship: Zoë
insured: checked
side: starboard
harbour: South

[Page 2]
Remarks
[Form fields of this page]
remarks: The crimson stork moors two barges by night.
`,
  );
  await using short = documentReader({ characters: 90 });
  assert.match(
    await toText(short, sampleDocument('filled-form.pdf')),
    /Name of applicant: The harbour\n\n\[Cut here: the first 90 characters are shown, which end on page 1 of 2\.\]\n$/,
  );
});

test('leaves out hidden fields and passwords, and shows a duplicate field once', () => {
  const field = { subtype: 'Widget', fieldType: 'Tx', fieldName: 'a', fieldValue: 'x' };
  const annotations = [
    { subtype: 'Link', fieldType: 'Tx', fieldValue: 'no field' },
    { ...field, fieldValue: 'hidden', annotationFlags: 2 },
    { ...field, fieldValue: 'not shown', annotationFlags: 4 | 32 },
    { ...field, fieldValue: 'secret', password: true },
    { ...field, annotationFlags: 4 },
    field,
    { ...field, fieldName: ' b\n c ', fieldValue: '1\r\n2' },
    { ...field, fieldType: 'Btn', checkBox: true, fieldValue: 'Off', exportValue: 'Off' },
  ];
  assert.deepEqual(filledFields(annotations, 1000), ['a: x', 'b c: 1 2']);
  assert.deepEqual(filledFields(annotations, 3), ['a: x']);
});

test('tables, lists and footnotes of a DOCX are read', async () => {
  for (const name of ['pandoc.docx', 'libreoffice.docx']) {
    const text = await toText(reader, sampleDocument(name));
    for (const line of ['Berth | Ships\nNorth | 12\nSouth | 7\n', '1. Rope\n2. Tar\n', 'שלום עולם']) {
      assert.ok(text.includes(line), text);
    }
    assert.ok(text.includes('The footnote names the harbour master.'), text);
  }
});

test('sheets have names and hidden ones a mark; dates and stored results are read', async () => {
  const rows = (sum: string) => `[Sheet: Berths]
Berth,Ships,Since,Share,Sum
"North, old",12,2026-03-01,0.25,${sum}
South,7.5,2026-03-01 14:30:00,TRUE

[Sheet: Second sheet]
,The amber fox weighs thirteen anchors on Tuesdays.
日本語の文章です。

[Sheet: Ledger (hidden)]
Kept aside
`;
  assert.equal(await toText(reader, sampleDocument('libreoffice.xlsx')), rows('19.5'));
  // The file stores no result.
  assert.equal(await toText(reader, sampleDocument('openpyxl.xlsx')), rows('=B2+B3'));
});

test('reads text without a declared encoding as windows-1252, with a note', async () => {
  const undeclared = await toText(reader, sampleDocument('windows-1252.csv'));
  assert.match(
    undeclared,
    /\n\n\[Note: the file does not say how its characters are encoded; it was read as windows-1252\.\]\n$/,
  );
  const plain = await toText(reader, sampleDocument('utf8.csv'));
  assert.equal(
    await toText(reader, sampleDocument('windows-1252.csv'), { contentType: 'text/csv; charset="ISO-8859-1"' }),
    plain,
  );
  assert.equal(await toText(reader, sampleDocument('utf16.csv')), plain);
});

test('the same bytes give the same text in every process', async () => {
  await using other = documentReader();
  for (const name of Object.keys(SAMPLE_SENTENCES)) {
    assert.equal(await toText(reader, sampleDocument(name)), await toText(other, sampleDocument(name)), name);
  }
});

test('a model that accepts PDFs gets the bytes if the PDF opens', async () => {
  for (const [name, pages] of [
    ['chromium.pdf', 2],
    ['scanned.pdf', 2],
    ['owner-only.pdf', 2],
  ] as const) {
    const file = await readBytes(reader, sampleDocument(name), { pdf: true });
    assert.ok(file.form === 'pdf');
    assert.equal(file.pages, pages);
    assert.deepEqual(file.bytes, sampleDocument(name));
  }
  assert.match(await getReason(reader, sampleDocument('encrypted.pdf'), { pdf: true }), /^is encrypted/);
});

test('a truncated or overwritten PDF is damaged', async () => {
  const whole = sampleDocument('ghostscript.pdf');
  for (const pdf of [true, false]) {
    assert.match(await getReason(reader, whole.slice(0, 1000), { pdf }), /^is damaged/);
    assert.match(
      await getReason(reader, new Uint8Array(Buffer.from(`%PDF-1.7\n${'x'.repeat(5000)}`)), { pdf }),
      /^is damaged/,
    );
  }
  // The page tree is at the start of the file: without a check of its end, half of the pages would be taken for all.
  const half = pdfOfPages(50);
  assert.match(await getReason(reader, half.slice(0, half.length / 2)), /^is damaged: its end is missing/);
  assert.match(await getReason(reader, sampleDocument('pandoc.docx').slice(0, 5000)), /^is damaged/);
});

test('a PDF that needs a missing character set is refused or notes the missing text', async () => {
  const font =
    '<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /90ms-RKSJ-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> >>] >>';
  const japanese = 'BT /F2 12 Tf 72 600 Td <93FA967B8CEA> Tj ET';
  assert.match(await getReason(reader, makePdf([japanese], [], font)), /^has text in a Chinese, Japanese or Korean/);
  const mixed = await toText(reader, makePdf([`BT /F1 12 Tf 72 700 Td (Plain.) Tj ET ${japanese}`], [], font));
  assert.match(mixed, /^\[Page 1\]\nPlain\.\n\n\[Note: some text is missing/);
});
