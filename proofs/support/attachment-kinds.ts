import { readFileSync } from 'node:fs';
import { SAMPLE_IMAGES } from '@runwire/test-kit';

const fixtures = new URL('../../packages/documents/src/fixtures/', import.meta.url);

/** A file that another program made. */
export const documentFixture = (name: string): Buffer => readFileSync(new URL(name, fixtures));

/** A file that is read, and what arrives of it. */
export interface AttachedKind {
  /** The last segment of its URL. */
  readonly name: string;
  readonly type: 'input_file' | 'input_image';
  readonly contentType: string | null;
  readonly bytes: () => Buffer;
  /** `pdf`: as it is where the model takes PDFs. */
  readonly sentAs: 'image' | 'pdf' | 'text';
  readonly mediaType: string;
  /** What the model is told where it is sent as text. */
  readonly says: readonly string[];
  /** There is no text in it: it can be sent as it is alone. */
  readonly hasNoText?: true;
}

const OFFICE = 'application/vnd.openxmlformats-officedocument';

function document(
  name: string,
  contentType: string | null,
  mediaType: string,
  ...says: readonly string[]
): AttachedKind {
  const sentAs = mediaType === 'application/pdf' ? 'pdf' : 'text';
  return { name, type: 'input_file', contentType, bytes: () => documentFixture(name), sentAs, mediaType, says };
}

const pdf = (name: string, ...says: readonly string[]) =>
  document(name, 'application/pdf', 'application/pdf', '[Page 2]', ...says);
const docx = (name: string, ...says: readonly string[]) =>
  document(name, `${OFFICE}.wordprocessingml.document`, `${OFFICE}.wordprocessingml.document`, ...says);
// As many servers send what they do not know.
const xlsx = (name: string, ...says: readonly string[]) =>
  document(name, 'application/octet-stream', `${OFFICE}.spreadsheetml.sheet`, '[Sheet: Second sheet]', ...says);
const csv = (name: string, contentType: string | null, ...says: readonly string[]) =>
  document(name, contentType, 'text/csv', ...says);

const BADGER = 'The silver badger mends seven umbrellas in the rain.';
const FOX = 'The amber fox weighs thirteen anchors on Tuesdays.';
const HERON = 'South,7,The olive heron sorts five keys: café.';

const images = Object.entries(SAMPLE_IMAGES).map(
  ([mediaType, base64]): AttachedKind => ({
    name: `photo.${mediaType.slice('image/'.length)}`,
    type: 'input_image',
    contentType: mediaType,
    bytes: () => Buffer.from(base64, 'base64'),
    sentAs: 'image',
    mediaType,
    says: [],
  }),
);

export const KINDS: readonly AttachedKind[] = [
  pdf('chromium.pdf', 'The violet heron counts eleven lanterns at dusk.', '日本語の文章です。港は静かだ。'),
  pdf('ghostscript.pdf', 'The copper otter files nine maps before breakfast.'),
  pdf('libreoffice.pdf', BADGER),
  { ...pdf('scanned.pdf'), hasNoText: true },
  docx('pandoc.docx', BADGER, 'North | 12'),
  docx('libreoffice.docx', BADGER, 'North | 12'),
  xlsx('openpyxl.xlsx', FOX),
  xlsx('libreoffice.xlsx', FOX),
  xlsx('gnumeric.xlsx', FOX),
  csv('utf8.csv', 'text/csv', HERON),
  csv('utf16.csv', null, HERON),
  csv('windows-1252.csv', 'text/csv; charset=windows-1252', HERON),
  document('report.html', 'text/html', 'text/html', 'The violet heron counts eleven lanterns at dusk.'),
  document('README.md', 'text/plain; charset=utf-8', 'text/markdown', '# Files made by other programs'),
  ...images,
  // An image is one by its bytes, whatever it is called.
  ...images
    .slice(0, 1)
    .map((image): AttachedKind => ({ ...image, name: 'scan', type: 'input_file', contentType: null })),
];
