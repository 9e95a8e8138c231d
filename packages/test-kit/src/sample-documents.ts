import { readFileSync } from 'node:fs';

/** Documents that other programs made; see `files/documents/fixtures/README.md`. */
export const sampleDocument = (name: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(new URL(`../../documents/src/fixtures/${name}`, import.meta.url)));

/** Name → a sentence on its second page or sheet, or, in a file without pages, in its second half. */
export const SAMPLE_SENTENCES: Readonly<Record<string, string>> = {
  'chromium.pdf': 'The violet heron counts eleven lanterns at dusk.',
  'ghostscript.pdf': 'The copper otter files nine maps before breakfast.',
  'owner-only.pdf': 'The copper otter files nine maps before breakfast.',
  'libreoffice.pdf': 'The silver badger mends seven umbrellas in the rain.',
  'filled-form.pdf': 'The crimson stork moors two barges by night.',
  'pandoc.docx': 'The silver badger mends seven umbrellas in the rain.',
  'libreoffice.docx': 'The silver badger mends seven umbrellas in the rain.',
  'openpyxl.xlsx': 'The amber fox weighs thirteen anchors on Tuesdays.',
  'libreoffice.xlsx': 'The amber fox weighs thirteen anchors on Tuesdays.',
  'gnumeric.xlsx': 'The amber fox weighs thirteen anchors on Tuesdays.',
  'report.html': 'The violet heron counts eleven lanterns at dusk.',
  'utf8.csv': 'The olive heron sorts five keys: café.',
  'windows-1252.csv': 'The olive heron sorts five keys: café.',
  'utf16.csv': 'The olive heron sorts five keys: café.',
};

/** Name → a part of the reason why it is refused. */
export const REFUSED_SAMPLES: Readonly<Record<string, string>> = {
  'encrypted.pdf': 'is encrypted; attach it without a password',
  'encrypted.docx': 'is encrypted; attach it without a password',
  'encrypted.xlsx': 'is encrypted; attach it without a password',
  'scanned.pdf': 'has no text in it, so it may be a scan',
  'old-word.doc': 'is in the old Word format (.doc)',
  'old-excel.xls': 'is in the old Excel format (.xls)',
  'libreoffice.odt': 'is in an OpenDocument format',
  'libreoffice.rtf': 'is in RTF format',
};
