import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { documentReader, getReason, readBytes, textOrReason, toText } from '@runwire/test-kit/read-document.ts';
import { sampleDocument } from '@runwire/test-kit/sample-documents.ts';
import { makePng } from '@runwire/test-kit/sample-images.ts';
import fc from 'fast-check';

const reader = documentReader();
after(() => reader[Symbol.asyncDispose]());

const png = () => new Uint8Array(makePng(500));
const toBytes = (text: string, encoding: BufferEncoding = 'utf8') => new Uint8Array(Buffer.from(text, encoding));

test('images are recognised by their bytes and sent unchanged, whatever their names', async () => {
  const file = await readBytes(reader, png(), { name: 'report.pdf', contentType: 'application/pdf' });
  assert.equal(file.form, 'image');
  assert.equal(file.mediaType, 'image/png');
  assert.deepEqual(file.bytes, png());
  const reason = await getReason(reader, toBytes('<svg/>'), { kind: 'input_image', contentType: 'image/png' });
  assert.equal(reason, 'is not a PNG, JPEG, GIF or WebP image, judged by its content');
});

test('a sign-in page is no PDF, DOCX, XLSX or image, whatever its name or header', async () => {
  const page = '<!DOCTYPE html><title>Sign in</title><form>Password</form>';
  for (const [name, contentType, what] of [
    ['report.pdf', 'text/html', 'a PDF'],
    ['report', 'application/pdf', 'a PDF'],
    ['report.DOCX', null, 'a Word document'],
    ['download', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet; charset=utf-8', 'a spreadsheet'],
    ['photo.jpg', null, 'an image'],
  ] as const) {
    assert.equal(
      await getReason(reader, toBytes(page), { name, contentType }),
      `should be ${what}, but the server sent a web page, such as one to sign in; check that the link leads to the file itself`,
    );
    assert.match(await getReason(reader, toBytes('Not found'), { name, contentType }), /but the server sent text/);
  }
  assert.equal(await toText(reader, toBytes(page), { name: 'page.html' }), 'Sign in\n\nPassword\n');
});

test('the type of a text is from its name, then its header, and from our own list', async () => {
  for (const [name, contentType, type] of [
    ['a.csv', 'text/plain', 'text/csv'],
    ['a.md', 'text/html', 'text/markdown'],
    ['a.json', null, 'application/json'],
    ['a.svg', null, 'image/svg+xml'],
    ['a', 'application/json; charset=utf-8', 'application/json'],
    ['a', 'text/xml', 'application/xml'],
    ['a', 'application/x-evil\u2028', 'text/plain'],
    ['a.constructor', '__proto__', 'text/plain'],
  ] as const) {
    const outcome = await textOrReason(reader, toBytes('{"a": "<b>"}'), { name, contentType });
    assert.deepEqual(outcome, { text: '{"a": "<b>"}', mediaType: type });
  }
});

test('text about PDFs is text; a PDF may begin after lines, a mark or binary bytes', async () => {
  for (const [text, asked] of [
    ['# Notes\nA PDF begins with %PDF-1.7 and ends with %%EOF.\n', {}],
    ['See\n%PDF-\n', {}],
    ['A PDF begins so:\n%PDF-1.7\n', { name: 'notes.md' }],
    ['A PDF begins so:\n%PDF-1.7\n', { contentType: 'text/plain; charset=utf-8' }],
  ] as const) {
    assert.equal(await toText(reader, toBytes(text), asked), text);
  }
  const pdf = sampleDocument('ghostscript.pdf');
  for (const before of ['X-Mailer: m\r\n\r\n', '\xef\xbb\xbf', '\x01m\0\0\0\0', '']) {
    const bytes = new Uint8Array(Buffer.concat([Buffer.from(before, 'latin1'), pdf]));
    assert.match(await toText(reader, bytes, { name: 'x', contentType: 'text/plain' }), /^\[Page 1\]/, before);
  }
  assert.match(await getReason(reader, toBytes('junk\n%PDF-1.7\n'), { name: 'a.pdf' }), /^is damaged/);
});

test('refuses empty, blank and unknown files', async () => {
  assert.equal(await getReason(reader, toBytes('')), 'is empty');
  assert.match(await getReason(reader, toBytes(' \r\n ')), /^is empty/);
  assert.match(
    await getReason(reader, toBytes('<html><script>x()</script></html>')),
    /^is a web page that contains no text/,
  );
  const program = new Uint8Array(5000).map((_, index) => (index * 7919) % 256);
  assert.match(await getReason(reader, program), /^has a type that is not supported/);
});

test('a byte order mark decides, then UTF-8 by its bytes, then the declared encoding', async () => {
  const text = async (bytes: Uint8Array<ArrayBuffer>, charset: string) =>
    toText(reader, bytes, { contentType: `text/plain; charset=${charset}` });
  assert.equal(await text(toBytes('\ufeffgrün'), 'iso-8859-1'), 'grün');
  assert.equal(await text(toBytes('\ufeffgrün', 'utf16le'), 'utf-8'), 'grün');
  assert.equal(await text(toBytes('grün'), 'iso-8859-1'), 'grün');
  assert.equal(await text(toBytes('gr\xfcn', 'latin1'), 'iso-8859-1'), 'grün');
  assert.equal(await text(toBytes('\x93\xfa\x96\x7b', 'latin1'), 'shift_jis'), '日本');
  assert.match(await text(toBytes('gr\xfcn', 'latin1'), 'nonsense'), /^grün\n\n\[Note: /);
  const page = '<html><meta charset="shift_jis"><p>\x93\xfa\x96\x7b</p>';
  assert.equal(await toText(reader, toBytes(page, 'latin1')), '日本\n');
});

test('lines end with a line feed; control characters and lone surrogates are removed', async () => {
  assert.equal(await toText(reader, toBytes('a\r\nb\rc\td\x1b[0m')), 'a\nb\nc\td[0m');
  const lone = await toText(reader, toBytes('\ufeffa\ud800b\udc00\u0000c', 'utf16le'));
  assert.equal(lone, 'a\ufffdb\ufffdc');
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), async (random) => {
      const outcome = await textOrReason(
        reader,
        new Uint8Array(Buffer.concat([Buffer.from('\ufeff', 'utf16le'), random])),
      );
      if ('reason' in outcome) return;
      assert.ok(outcome.text.isWellFormed() && !/[\0-\x08\x0b-\x1f]/.test(outcome.text));
    }),
    { numRuns: 50 },
  );
});

test('a long text is cut after a whole character and notes how much is shown', async () => {
  await using short = documentReader({ characters: 3 });
  assert.equal(await toText(short, toBytes('a😀b')), 'a😀b');
  assert.equal(await toText(short, toBytes('a😀b😀')), 'a😀b\n\n[Cut here: the first 3 of 4 characters are shown.]\n');
  const long = '😀x'.repeat(2_000_000);
  assert.equal(
    await toText(short, toBytes(long)),
    '😀x😀\n\n[Cut here: the first 3 of 4000000 characters are shown.]\n',
  );
  assert.equal(
    await toText(short, toBytes(`<html>${'<p>abcdef</p>'.repeat(100_000)}`)),
    'abc\n\n[Cut here: the first 3 characters are shown.]\n',
  );
});
