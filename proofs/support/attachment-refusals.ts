import type { FileServer } from '@runwire/test-kit';
import { repeated, zipOf, zipPart } from '../../packages/test-kit/src/large-documents.ts';
import { documentFixture } from './attachment-kinds.ts';

/** An attachment that cannot be had or read. */
export interface RefusedFile {
  readonly name: string;
  readonly path: string;
  /** The end of the sentence behind the URL. */
  readonly says: RegExp;
  readonly kind?: 'input_file' | 'input_image';
  /** In place of the URL with its secret. */
  readonly url?: (files: FileServer) => string;
  /** What its server does with it. */
  readonly serve: (files: FileServer, path: string) => void;
  /** A model that takes PDFs as they are is sent it. */
  readonly onlyAsText?: true;
}

const PDF = 'application/pdf';
const LARGEST = 20_971_520;
const HOUR_MS = 3_600_000;

const fetched = (why: string) => new RegExp(`^could not be fetched: ${why};`);

const bytes = (content: () => Uint8Array | string, contentType: string | null) => (files: FileServer, path: string) => {
  files.serve(path, content(), contentType);
};
const redirects = (to: string) => (files: FileServer, path: string) => {
  files.redirect(path, to);
};
const fixture = (name: string, contentType: string | null) => bytes(() => documentFixture(name), contentType);
const half = (name: string, contentType: string) =>
  bytes(() => {
    const whole = documentFixture(name);
    return whole.subarray(0, whole.length >> 1);
  }, contentType);

const WORDS = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** A document of 200 KB whose one part unpacks to 200 MB. */
function zipBomb(): Uint8Array {
  const types = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="${WORDS}.main+xml"/></Types>`;
  const bytes = 200_000_000;
  return zipOf([
    zipPart('[Content_Types].xml', types),
    { name: 'word/document.xml', deflated: repeated(' ', bytes), bytes, crc: 0 },
  ]);
}

/** What its server answers, or does not. */
export const NOT_TO_BE_HAD: readonly RefusedFile[] = [
  { name: '404', path: '/gone.pdf', says: fetched('its server answered 404'), serve: () => {} },
  {
    name: '500',
    path: '/broken.pdf',
    says: fetched('its server answered 500'),
    serve: (files, path) => files.serve(path, 'no', 'text/plain', 500),
  },
  {
    name: '403 of an expired link',
    path: '/signed/report.pdf',
    says: fetched('its server answered 403'),
    url: (files) => files.sign('/signed/report.pdf', { at: new Date(Date.now() - HOUR_MS), expiresSeconds: 60 }),
    serve: (files, path) => files.serveSigned(path, '%PDF-', PDF),
  },
  {
    name: 'too many redirects',
    path: '/round.pdf',
    says: fetched('its server redirects more than 3 times'),
    serve: redirects('/round.pdf'),
  },
  ...[
    'https://10.0.0.1/a.pdf',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'http://example.com/',
  ].map((to, index) => ({
    name: `a redirect to ${to}`,
    path: `/away-${index}.pdf`,
    says: fetched('its server redirects to an address that is not allowed'),
    serve: redirects(to),
  })),
  {
    name: 'a name of a private address',
    path: '/a.pdf',
    says: fetched('its host has an address that is not on the public internet, or is this server itself'),
    url: () => 'https://localhost/a.pdf?token=SECRET',
    serve: () => {},
  },
  {
    name: 'too large by its announcement',
    path: '/announced.pdf',
    says: fetched('it is larger than 20971520 bytes'),
    serve: (files, path) => files.lie(path, Buffer.alloc(10), LARGEST + 1),
  },
  {
    name: 'too large without an end',
    path: '/endless.txt',
    says: fetched('it is larger than 20971520 bytes'),
    serve: (files, path) => files.endless(path),
  },
  {
    name: 'cut on its way',
    path: '/cut.txt',
    says: fetched('its server closed the connection before the end of its answer'),
    serve: (files, path) => files.lie(path, Buffer.alloc(10, 'a'), 20),
  },
  {
    name: 'compressed on its way',
    path: '/gzip.txt',
    says: fetched('its server sent it compressed, although the request excluded that'),
    serve: (files, path) => files.gzipped(path, Buffer.from('Hello')),
  },
];

/** What comes and cannot be read. */
export const NOT_TO_BE_READ: readonly RefusedFile[] = [
  {
    name: 'a scan',
    path: '/scan.pdf',
    says: /^has no text in it, so it may be a scan;/,
    serve: fixture('scanned.pdf', PDF),
    onlyAsText: true,
  },
  {
    name: 'an encrypted PDF',
    path: '/locked.pdf',
    says: /^is encrypted; attach it without a password/,
    serve: fixture('encrypted.pdf', PDF),
  },
  { name: 'half a PDF', path: '/half.pdf', says: /^is damaged/, serve: half('libreoffice.pdf', PDF) },
  { name: 'half a DOCX', path: '/half.docx', says: /^is damaged/, serve: half('libreoffice.docx', 'application/zip') },
  {
    name: 'an encrypted DOCX',
    path: '/locked.docx',
    says: /^is encrypted; attach it without a password/,
    serve: fixture('encrypted.docx', WORDS),
  },
  { name: 'a zip bomb', path: '/bomb.docx', says: /^is too large/, serve: bytes(zipBomb, WORDS) },
  {
    name: 'the old format of Word',
    path: '/old.doc',
    says: /^is in the old Word format/,
    serve: fixture('old-word.doc', 'application/msword'),
  },
  {
    name: 'a sign-in page in place of a PDF',
    path: '/login.pdf',
    says: /^should be a PDF, but the server sent a web page/,
    serve: bytes(() => '<!doctype html><title>Sign in</title><form>…</form>', 'text/html'),
  },
  {
    name: 'text in place of an image',
    path: '/photo.png',
    kind: 'input_image',
    says: /^is not a PNG, JPEG, GIF or WebP image, judged by its content/,
    serve: bytes(() => 'No image.', 'image/png'),
  },
  {
    name: 'bytes of no known kind',
    path: '/dump.bin',
    says: /^has a type that is not supported/,
    serve: bytes(() => Buffer.from([0, 1, 2, 3, 0xff, 0xfe, 0, 0]), null),
  },
  { name: 'nothing', path: '/empty.txt', says: /^is empty/, serve: bytes(() => '', 'text/plain') },
];
