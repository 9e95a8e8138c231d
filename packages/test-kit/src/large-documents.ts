import { constants, crc32, deflateRawSync, deflateSync } from 'node:zlib';

/** Documents that are too large to keep as files, or made to do harm. */

export interface PdfStream {
  /** Such as `/Filter /FlateDecode`. */
  readonly dictionary?: string;
  readonly bytes: Uint8Array;
}

/**
 * A PDF of pages with these contents. `more` are further objects, of the numbers from 4 on; `/X4` names the object 4 in a page.
 * `/F1` is Helvetica, and `/F2` the font that is given.
 */
export function makePdf(
  pages: readonly (string | PdfStream)[],
  more: readonly PdfStream[] = [],
  font = '3 0 R',
): Uint8Array<ArrayBuffer> {
  const firstPage = 4 + more.length;
  const numbers = pages.map((_, index) => firstPage + 2 * index);
  const forms = more.map((_, index) => `/X${4 + index} ${4 + index} 0 R`).join(' ');
  const resources = `<< /Font << /F1 3 0 R /F2 ${font} >> /XObject << ${forms} >> >>`;
  const writer = new PdfWriter();
  writer.object('<< /Type /Catalog /Pages 2 0 R >>');
  writer.object(
    `<< /Type /Pages /Count ${pages.length} /Kids [${numbers.map((number) => `${number} 0 R`).join(' ')}] /MediaBox [0 0 595 842] /Resources ${resources} >>`,
  );
  writer.object('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  for (const { dictionary = '', bytes } of more) {
    writer.stream({
      dictionary: `${dictionary} /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources ${resources}`,
      bytes,
    });
  }
  for (const [index, content] of pages.entries()) {
    writer.object(`<< /Type /Page /Parent 2 0 R /Contents ${firstPage + 2 * index + 1} 0 R >>`);
    writer.stream(typeof content === 'string' ? { bytes: Buffer.from(content, 'latin1') } : content);
  }
  return writer.end();
}

class PdfWriter {
  readonly #parts: Uint8Array[] = [Buffer.from('%PDF-1.7\n')];
  readonly #offsets: number[] = [];
  #length = 9;

  object(text: string): void {
    this.#begin();
    this.#add(Buffer.from(`${text}\nendobj\n`));
  }

  stream({ dictionary = '', bytes }: PdfStream): void {
    this.#begin();
    this.#add(Buffer.from(`<< /Length ${bytes.length} ${dictionary} >>\nstream\n`));
    this.#add(bytes);
    this.#add(Buffer.from('\nendstream\nendobj\n'));
  }

  end(): Uint8Array<ArrayBuffer> {
    const start = this.#length;
    const lines = this.#offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
    const size = this.#offsets.length + 1;
    this.#add(Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${lines}`));
    this.#add(Buffer.from(`trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`));
    return new Uint8Array(Buffer.concat(this.#parts));
  }

  #begin(): void {
    this.#offsets.push(this.#length);
    this.#add(Buffer.from(`${this.#offsets.length} 0 obj\n`));
  }

  #add(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#length += bytes.length;
  }
}

const line = (text: string) => `BT /F1 12 Tf 72 720 Td (${text}) Tj ET\n`;

/** A PDF of so many short pages: `Page 7 speaks.` */
export const pdfOfPages = (pages: number): Uint8Array<ArrayBuffer> =>
  makePdf(Array.from({ length: pages }, (_, index) => line(`Page ${index + 1} speaks.`)));

const SLOW_PAGES = 400;
const SLOW_OPERATIONS = 'BT /F1 9 Tf 0.12 0.34 0.56 rg 1 0 0 1 72.125 340.875 Tm ET q 1.5 0 0 1.5 12.25 99.75 cm Q\n';

/** A PDF of about so many bytes, little text and many operations: 20 MiB take seconds to read. */
export function slowPdf(bytes: number): Uint8Array<ArrayBuffer> {
  const operations = SLOW_OPERATIONS.repeat(Math.ceil(bytes / SLOW_PAGES / SLOW_OPERATIONS.length));
  return makePdf(Array.from({ length: SLOW_PAGES }, (_, index) => `${line(`Page ${index + 1} speaks.`)}${operations}`));
}

/**
 * Page 1 has text. Page 2 uses a form that uses ten forms, which each use ten, twelve levels deep: no reader can
 * finish it.
 */
export function endlessPdf(): Uint8Array<ArrayBuffer> {
  const depth = 12;
  const forms = Array.from({ length: depth }, (_, index) => ({
    bytes: Buffer.from(index === depth - 1 ? line('.') : `/X${5 + index} Do\n`.repeat(10)),
  }));
  return makePdf([line('Page 1 speaks.'), '/X4 Do'], forms);
}

/** A page whose content is so many bytes of spaces, packed to a thousandth. */
export const pdfBomb = (bytes: number): Uint8Array<ArrayBuffer> =>
  makePdf([{ dictionary: '/Filter /FlateDecode', bytes: makeZlib(repeated(' ', bytes)) }]);

/** Streams of zlib end with a checksum, which readers of PDF do not look at. */
const makeZlib = (deflated: Buffer) => Buffer.concat([deflateSync('').subarray(0, 2), deflated, Buffer.alloc(4)]);

const BLOCK_BYTES = 1024 * 1024;

/** So many bytes of one character, deflated: one block, written as often as it takes. */
export function repeated(character: string, bytes: number): Buffer {
  const block = deflateRawSync(Buffer.alloc(BLOCK_BYTES, character), { finishFlush: constants.Z_FULL_FLUSH, level: 9 });
  const rest = deflateRawSync(Buffer.alloc(bytes % BLOCK_BYTES, character));
  return Buffer.concat([...Array.from({ length: Math.floor(bytes / BLOCK_BYTES) }, () => block), rest]);
}

export interface ZipPart {
  readonly name: string;
  readonly deflated: Buffer;
  /** The size that the directory claims. */
  readonly bytes: number;
  readonly crc: number;
  /** If true, it shares the previous part's bytes. */
  readonly overlapping?: boolean;
}

export const zipPart = (name: string, text: string): ZipPart => ({
  name,
  deflated: deflateRawSync(text),
  bytes: Buffer.byteLength(text),
  crc: crc32(text),
});

export function makeZip(parts: readonly ZipPart[]): Uint8Array<ArrayBuffer> {
  const local: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  let before = 0;
  for (const { name, deflated, bytes, crc, overlapping = false } of parts) {
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc, 10);
    fields.writeUInt32LE(deflated.length, 14);
    fields.writeUInt32LE(bytes, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(overlapping ? before : offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\0'), fields, rest, Buffer.from(name));
    if (overlapping) continue;
    local.push(Buffer.from('PK\x03\x04'), fields, Buffer.from(name), deflated);
    before = offset;
    offset += 30 + Buffer.byteLength(name) + deflated.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return new Uint8Array(Buffer.concat([...local, listed, end]));
}
