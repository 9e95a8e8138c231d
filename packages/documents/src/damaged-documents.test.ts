import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fullTest } from '@runwire/test-kit/full-test.ts';
import { documentReader, textOrReason } from '@runwire/test-kit/read-document.ts';
import { REFUSED_SAMPLES, SAMPLE_SENTENCES, sampleDocument } from '@runwire/test-kit/sample-documents.ts';
import fc from 'fast-check';
import { storedZip } from './ooxml/stored-zip.ts';
import { ZipArchive } from './ooxml/zip-archive.ts';

/** A damaged file is read or refused. `textOrReason` throws in every other case, which fails the test. */
const reader = documentReader({ conversionMs: 20_000 });
after(() => reader[Symbol.asyncDispose]());

const names = [...Object.keys(SAMPLE_SENTENCES), ...Object.keys(REFUSED_SAMPLES)];
const RUNS = 120;

async function isReadOrRefused(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const outcome = await textOrReason(reader, bytes);
  // The files are small, so a timeout means a hang.
  if ('reason' in outcome) assert.match(outcome.reason, /^(?:is|has|could not be read) (?!.* within )/);
  else assert.ok(outcome.text.isWellFormed() && !outcome.text.includes('\0'));
}

test('files that are truncated anywhere are read or refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), fc.double({ min: 0, max: 1, noNaN: true }), async (name, share) => {
      const whole = sampleDocument(name);
      await isReadOrRefused(whole.slice(0, Math.floor(whole.length * share)));
    }),
    { numRuns: RUNS },
  );
});

fullTest('files in which a few bytes are wrong are read or refused', async () => {
  const change = fc.tuple(
    fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    fc.integer({ min: 0, max: 255 }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names),
      fc.array(change, { minLength: 1, maxLength: 5 }),
      async (name, changes) => {
        const bytes = sampleDocument(name);
        for (const [share, byte] of changes) bytes[Math.floor(share * bytes.length)] = byte;
        await isReadOrRefused(bytes);
      },
    ),
    { numRuns: RUNS },
  );
});

fullTest('packages whose XML is wrong are read or refused', async () => {
  const packages = ['pandoc.docx', 'libreoffice.docx', 'openpyxl.xlsx', 'gnumeric.xlsx'].map((name) => {
    const zip = new ZipArchive(sampleDocument(name), 1e8);
    return new Map(zip.names.map((part) => [part, zip.read(part) ?? Buffer.alloc(0)]));
  });
  const pieces = fc.constantFrom(
    '',
    '<',
    '>',
    '</w:p>',
    '<w:tbl>',
    '&#0;',
    '&x;',
    '"',
    '\0',
    'w:',
    '<![CDATA[',
    '99999999999999999999',
    '-1',
    '\ud800',
  );
  const change = fc.tuple(fc.nat(), fc.nat(), fc.nat(40), pieces);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...packages),
      fc.array(change, { minLength: 1, maxLength: 5 }),
      async (parts, changes) => {
        const changed = new Map(parts);
        for (const [which, where, length, piece] of changes) {
          const name = [...changed.keys()][which % changed.size] ?? '';
          const xml = changed.get(name)?.toString() ?? '';
          const at = where % (xml.length + 1);
          changed.set(name, Buffer.from(`${xml.slice(0, at)}${piece}${xml.slice(at + length)}`));
        }
        await isReadOrRefused(new Uint8Array(storedZip(changed)));
      },
    ),
    { numRuns: RUNS },
  );
});

test('random bytes are read or refused, whatever kind they begin with', async () => {
  const starts = ['', '%PDF-1.7\n', 'PK\x03\x04', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', '<html>', '{\\rtf', '\xff\xfe'];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 2000 }), async (start, rest) => {
      await isReadOrRefused(new Uint8Array(Buffer.concat([Buffer.from(start, 'latin1'), rest])));
    }),
    { numRuns: RUNS },
  );
});
