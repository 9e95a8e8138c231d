import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeZip, zipPart } from '@runwire/test-kit/large-documents.ts';
import { docxBomb, makeDocx, makeXlsx, xlsxBomb } from '@runwire/test-kit/office-packages.ts';
import { documentReader, getReason, toText } from '@runwire/test-kit/read-document.ts';
import { textOfDate, textOfDuration, timeFormat } from './excel-dates.ts';

const reader = documentReader();
after(() => reader[Symbol.asyncDispose]());

const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

test('reads packages of any program, with macros and from templates', async () => {
  assert.equal(await toText(reader, makeDocx(paragraph('Hello'))), 'Hello\n');
  const macros = 'application/vnd.ms-word.document.macroEnabled.main+xml';
  assert.equal(await toText(reader, makeDocx(paragraph('Hello'), [], macros)), 'Hello\n');
  const template = 'application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml';
  assert.equal(await toText(reader, makeXlsx('<row><c><v>5</v></c></row>', template)), '[Sheet: One]\n5\n');
});

test('presentations, binary sheets and plain archives are refused by name', async () => {
  const slides = 'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml';
  assert.match(await getReason(reader, makeDocx('', [], slides)), /^is a presentation \(PPTX\)/);
  const binary = 'application/vnd.ms-excel.sheet.binary.macroEnabled.main';
  assert.match(await getReason(reader, makeXlsx('', binary)), /^is a binary spreadsheet \(XLSB\)/);
  assert.match(await getReason(reader, makeZip([zipPart('a.txt', 'a')])), /^is a ZIP archive/);
});

test('refuses ten gigabytes in ten megabytes, whatever size is declared', async () => {
  assert.match(await getReason(reader, docxBomb(4_000_000_000)), /^is too large: it unzips to 4000000\d+ bytes/);
  for (const bomb of [docxBomb, xlsxBomb]) {
    // The declared size is within the limit, the real size far beyond it.
    assert.match(await getReason(reader, bomb(1000)), /^is damaged: it cannot be unzipped/);
    assert.match(await getReason(reader, bomb(90_000_000)), /^is damaged: it cannot be unzipped/);
  }
  assert.match(await getReason(reader, makeDocx(' '.repeat(50_000_000))), /a part grows more than 500 times/);
});

test('parts that overlap, have one name or are too many are refused', async () => {
  const part = zipPart('a', 'text'.repeat(100));
  assert.match(await getReason(reader, makeZip([part, { ...part, name: 'b', overlapping: true }])), /^is damaged/);
  assert.match(await getReason(reader, makeZip([part, part])), /^is damaged/);
  const many = Array.from({ length: 10_001 }, (_, index) => zipPart(`${index}`, 'x'));
  assert.match(await getReason(reader, makeZip(many)), /^is too complex: it has more than 10000 parts/);
  assert.match(await getReason(reader, makeDocx({ ...zipPart('word/document.xml', '<a/>'), crc: 1 })), /^is damaged/);
});

test('XML that declares entities is refused, before anything expands them', async () => {
  const laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>';
  for (const bytes of [
    makeDocx(zipPart('word/document.xml', `<?xml version="1.0"?>${laughs}<w:document>&b;</w:document>`)),
    makeXlsx(zipPart('xl/sheet.xml', `${laughs}<worksheet><row><c t="str"><v>&b;</v></c></row></worksheet>`)),
  ]) {
    assert.match(await getReason(reader, bytes), /^is damaged: a part of it declares a document type/);
  }
});

test('refuses XML that is nested too deeply', async () => {
  const deep = (tag: string, times: number) => `${`<${tag}>`.repeat(times)}${`</${tag}>`.repeat(times)}`;
  assert.match(await getReason(reader, makeXlsx(deep('row', 100_000))), /nested too deeply/);
  assert.match(await getReason(reader, makeDocx(`<w:p>${deep('w:r', 100_000)}</w:p>`)), /nested too deeply/);
});

test('reads cells of every type in their columns', async () => {
  const rows = [
    '<row><c r="B1" t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r><rPh><t>no</t></rPh></is></c><c r="D1" t="b"><v>0</v></c></row>',
    '<row/><row><c><v>0.30000000000000004</v></c><c t="e"><v>#DIV/0!</v></c><c t="str"><f>A1</f><v>a "b"_x000A_c</v></c></row>',
    '<row><c t="d"><v>2026-03-01</v></c><c t="s"><v>99</v></c><c><f>1+1</f></c></row>',
    '<row><c t="str"><f>IF(A1,1,"")</f><v></v></c><c t="str"><f>A9</f></c><c><f>A2</f><v/></c></row>',
  ];
  assert.equal(
    await toText(reader, makeXlsx(rows.join(''))),
    '[Sheet: One]\n,inline,,FALSE\n0.3,#DIV/0!,"a ""b""\nc"\n2026-03-01,,=1+1\n,=A9,=A2\n',
  );
  assert.match(await getReason(reader, makeXlsx('<row/>')), /^is a spreadsheet with empty cells only/);
});

test('recognises dates by their formats and shows them in one form', () => {
  for (const [id, code] of [
    [14, undefined],
    [47, undefined],
    [164, 'yyyy\\-mm\\-dd'],
    [166, '[$-409]d/m/yy;@'],
  ] as const) {
    assert.equal(timeFormat(id, code), 'date', String(code));
  }
  for (const [id, code] of [
    [0, undefined],
    [9, undefined],
    [164, '0.00" days"'],
    [165, '[Red]0'],
    [166, 'General'],
    [167, '#,##0_d'],
  ] as const) {
    assert.equal(timeFormat(id, code), null, String(code));
  }
  assert.equal(textOfDate(1, false), '1900-01-01');
  assert.equal(textOfDate(61, false), '1900-03-01');
  assert.equal(textOfDate(46_082.604166666664, false), '2026-03-01 14:30:00');
  assert.equal(textOfDate(46_082 - 1462, true), '2026-03-01');
  assert.equal(textOfDate(0.75, false), '18:00:00');
  assert.equal(textOfDate(-1, false), null);
  // The last second that has a date, in both date systems.
  for (const [days, from1904] of [
    [2_958_466, false],
    [2_958_466 - 1462, true],
  ] as const) {
    assert.equal(textOfDate(days - 1 / 86_400, from1904), '9999-12-31 23:59:59');
    assert.equal(textOfDate(days - 1e-8, from1904), null);
    assert.equal(textOfDate(days, from1904), null);
  }
  assert.equal(textOfDate(1e300, false), null);
});

test('durations are hours, minutes and seconds, not dates', async () => {
  for (const [id, code] of [
    [46, undefined],
    [164, '[h]:mm'],
    [165, '[Red][mm]:ss'],
    [166, '[s]'],
  ] as const) {
    assert.equal(timeFormat(id, code), 'duration', String(code));
  }
  assert.equal(textOfDuration(37.5 / 24), '37:30:00');
  assert.equal(textOfDuration(8 / 24), '8:00:00');
  assert.equal(textOfDuration(-1.5 / 24), '-1:30:00');
  assert.equal(textOfDuration(0), '0:00:00');
  assert.equal(textOfDuration(1e300), null);
  const styles =
    '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[h]:mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/></cellXfs></styleSheet>';
  const rows = '<row><c s="1"><v>1.5625</v></c><c s="2"><v>46082</v></c><c><v>1.5625</v></c></row>';
  assert.equal(await toText(reader, makeXlsx(rows, undefined, styles)), '[Sheet: One]\n37:30:00,2026-03-01,1.5625\n');
});
