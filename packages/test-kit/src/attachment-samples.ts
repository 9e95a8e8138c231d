import type { FileServer } from './file-server.ts';
import { makeZip, repeated, zipPart } from './large-documents.ts';
import { REFUSED_SAMPLES, SAMPLE_SENTENCES, sampleDocument } from './sample-documents.ts';
import { SAMPLE_IMAGES } from './sample-images.ts';

/** This text is in every URL's query. Only the file server may see it. */
export const SECRET = 'secret-0123456789abcdef01234567';
const LARGEST = 20_971_520;
const HOUR_MS = 3_600_000;
const PDF = 'application/pdf';
const OFFICE = 'application/vnd.openxmlformats-officedocument';
const DOCX = `${OFFICE}.wordprocessingml.document`;
const XLSX = `${OFFICE}.spreadsheetml.sheet`;

/** A file, and what the model receives of it. */
export interface AttachedKind {
  readonly name: string;
  readonly type: 'input_file' | 'input_image';
  readonly contentType: string | null;
  readonly bytes: Uint8Array;
  /** The file is sent unchanged: always, or only to a model that takes PDFs. */
  readonly sentAs: 'image' | 'pdf' | 'text';
  readonly mediaType: string;
  /** The parts of its text. */
  readonly says: readonly string[];
}

/** Files of other programs: name, content type, media type, and text beside the sentence of its second page or sheet. */
const DOCUMENTS: readonly (readonly [string, string | null, string, ...string[]])[] = [
  ['chromium.pdf', PDF, PDF, '[Page 2]', '日本語の文章です。港は静かだ。'],
  ['ghostscript.pdf', PDF, PDF, '[Page 2]'],
  ['libreoffice.pdf', PDF, PDF, '[Page 2]'],
  ['scanned.pdf', PDF, PDF],
  ['pandoc.docx', DOCX, DOCX, 'North | 12'],
  ['libreoffice.docx', DOCX, DOCX, 'North | 12'],
  // Many servers use this type for files that they do not know.
  ['openpyxl.xlsx', 'application/octet-stream', XLSX, '[Sheet: Second sheet]'],
  ['libreoffice.xlsx', 'application/octet-stream', XLSX, '[Sheet: Second sheet]'],
  ['gnumeric.xlsx', 'application/octet-stream', XLSX, '[Sheet: Second sheet]'],
  ['utf8.csv', 'text/csv', 'text/csv'],
  ['utf16.csv', null, 'text/csv'],
  ['windows-1252.csv', 'text/csv; charset=windows-1252', 'text/csv'],
  ['report.html', 'text/html', 'text/html'],
  ['README.md', 'text/plain; charset=utf-8', 'text/markdown', '# Files made by other programs'],
];
const image = (
  name: string,
  mediaType: string,
  base64: string,
  contentType: string | null = mediaType,
): AttachedKind => ({
  name,
  type: contentType === null ? 'input_file' : 'input_image',
  contentType,
  bytes: Buffer.from(base64, 'base64'),
  sentAs: 'image',
  mediaType,
  says: [],
});
export const ATTACHED_KINDS: readonly AttachedKind[] = [
  ...DOCUMENTS.map(([name, contentType, mediaType, ...more]): AttachedKind => {
    const says = [...more, ...(SAMPLE_SENTENCES[name] === undefined ? [] : [SAMPLE_SENTENCES[name]])];
    const sentAs = mediaType === PDF ? 'pdf' : 'text';
    return { name, type: 'input_file', contentType, bytes: sampleDocument(name), sentAs, mediaType, says };
  }),
  ...Object.entries(SAMPLE_IMAGES).map(([type, base64]) => image(`photo.${type.slice('image/'.length)}`, type, base64)),
  // The bytes decide that a file is an image, not its name.
  image('scan', 'image/png', SAMPLE_IMAGES['image/png'], null),
];

type Serve = (files: FileServer, path: string) => unknown;
/** Its path, a part of the sentence about it, what its server does, and its URL if that is another one. */
export type RefusedFile = readonly [path: string, says: string, serve: Serve, url?: (files: FileServer) => string];

const bytes =
  (content: Uint8Array | string, contentType: string | null = null): Serve =>
  (files, path) =>
    files.serve(path, content, contentType);
const sample = (name: string): RefusedFile => [`/${name}`, REFUSED_SAMPLES[name] ?? '?', bytes(sampleDocument(name))];
const half = (name: string): Serve => {
  const whole = sampleDocument(name);
  return bytes(whole.subarray(0, whole.length >> 1));
};
const elsewhere = (to: string, index: number): RefusedFile => [
  `/away-${index}.pdf`,
  'its server redirects to an address that is not allowed',
  (files, path) => files.redirect(path, to),
];

/** A document of 200 KB whose one part unpacks to 200 MB. */
function zipBomb(): Uint8Array {
  const types = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="${DOCX}.main+xml"/></Types>`;
  const size = 200_000_000;
  const part = { name: 'word/document.xml', deflated: repeated(' ', size), bytes: size, crc: 0 };
  return makeZip([zipPart('[Content_Types].xml', types), part]);
}

const signedAt = (path: string) => (files: FileServer) =>
  files.sign(path, { at: new Date(Date.now() - HOUR_MS), expiresSeconds: 60 });

export const NOT_FETCHED: readonly RefusedFile[] = [
  ['/gone.pdf', 'its server answered 404', () => {}],
  ['/broken.pdf', 'its server answered 500', (files, path) => files.serve(path, 'no', 'text/plain', 500)],
  [
    '/expired.pdf',
    'its server answered 403',
    (files, path) => files.serveSigned(path, '%PDF-', PDF),
    signedAt('/expired.pdf'),
  ],
  ['/round.pdf', 'its server redirects more than 3 times', (files, path) => files.redirect(path, path)],
  ...['https://10.0.0.1/a.pdf', 'https://169.254.169.254/latest', 'https://[::1]/', 'http://example.com/'].map(
    elsewhere,
  ),
  [
    '/a.pdf',
    'its host has an address that is not on the public internet',
    () => {},
    () => `https://localhost/a.pdf?token=${SECRET}`,
  ],
  [
    '/announced.pdf',
    `it is larger than ${LARGEST} bytes`,
    (files, path) => files.lie(path, Buffer.alloc(10), LARGEST + 1),
  ],
  ['/endless.txt', `it is larger than ${LARGEST} bytes`, (files, path) => files.endless(path)],
  ['/cut.txt', 'its server closed the connection', (files, path) => files.lie(path, Buffer.alloc(10, 'a'), 20)],
  ['/gzip.txt', 'its server sent it compressed', (files, path) => files.gzipped(path, Buffer.from('Hello'))],
];
export const NOT_READ: readonly RefusedFile[] = [
  sample('scanned.pdf'),
  sample('encrypted.pdf'),
  ['/half.pdf', 'is damaged', half('libreoffice.pdf')],
  ['/half.docx', 'is damaged', half('libreoffice.docx')],
  sample('encrypted.docx'),
  ['/bomb.docx', 'is too large', (files, path) => files.serve(path, zipBomb(), DOCX)],
  sample('old-word.doc'),
  [
    '/login.pdf',
    'should be a PDF, but the server sent a web page',
    bytes('<!doctype html><title>Sign in</title>', 'text/html'),
  ],
  ['/photo.png', 'is not a PNG, JPEG, GIF or WebP image, judged by its content', bytes('No image.', 'image/png')],
  ['/dump.bin', 'has a type that is not supported', bytes(Buffer.from([0, 1, 2, 3, 0xff, 0xfe, 0, 0]))],
  ['/empty.txt', 'is empty', bytes('', 'text/plain')],
];
