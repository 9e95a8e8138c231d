import { makeZip, repeated, type ZipPart, zipPart } from './large-documents.ts';

const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const SHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

const types = (part: string, type: string) =>
  zipPart(
    '[Content_Types].xml',
    `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="${part}" ContentType="${type}"/></Types>`,
  );
const relationship = ([type, target]: readonly [string, string], index: number) =>
  `<Relationship Id="rId${index + 1}" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`;
const relationships = (name: string, ...all: readonly (readonly [type: string, target: string])[]) =>
  zipPart(
    name,
    `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all.map(relationship).join('')}</Relationships>`,
  );

const DOCX_MAIN = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
const XLSX_MAIN = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml';

/** A DOCX with this part as its text, or with this XML as its body. */
export function makeDocx(
  body: string | ZipPart,
  more: readonly ZipPart[] = [],
  main = DOCX_MAIN,
): Uint8Array<ArrayBuffer> {
  const document =
    typeof body === 'string'
      ? zipPart(
          'word/document.xml',
          `<?xml version="1.0"?><w:document xmlns:w="${WORD}"><w:body>${body}</w:body></w:document>`,
        )
      : body;
  return makeZip([
    types('/word/document.xml', main),
    relationships('_rels/.rels', ['officeDocument', 'word/document.xml']),
    document,
    ...more,
  ]);
}

/** An XLSX of one sheet with this XML as its rows, or with this part as its sheet; `styles` is the XML of its styles. */
export function makeXlsx(rows: string | ZipPart, main = XLSX_MAIN, styles = '<styleSheet/>'): Uint8Array<ArrayBuffer> {
  const sheet =
    typeof rows === 'string'
      ? zipPart(
          'xl/sheet.xml',
          `<?xml version="1.0"?><worksheet xmlns="${SHEET}"><sheetData>${rows}</sheetData></worksheet>`,
        )
      : rows;
  return makeZip([
    types('/xl/workbook.xml', main),
    relationships('_rels/.rels', ['officeDocument', 'xl/workbook.xml']),
    zipPart(
      'xl/workbook.xml',
      `<?xml version="1.0"?><workbook xmlns="${SHEET}" xmlns:r="${RELATIONSHIPS}"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ),
    relationships('xl/_rels/workbook.xml.rels', ['worksheet', 'sheet.xml'], ['styles', 'styles.xml']),
    zipPart('xl/styles.xml', styles),
    sheet,
  ]);
}

const GIGABYTE = 1_000_000_000;

/** Ten gigabytes of zeros in ten megabytes, as a DOCX's text. With `claimedBytes`, its directory claims that size. */
export const docxBomb = (claimedBytes: number): Uint8Array<ArrayBuffer> =>
  makeDocx({ name: 'word/document.xml', deflated: repeated('\0', 10 * GIGABYTE), bytes: claimedBytes, crc: 0 });

/** The same as an XLSX's sheet. */
export const xlsxBomb = (claimedBytes: number): Uint8Array<ArrayBuffer> =>
  makeXlsx({ name: 'xl/sheet.xml', deflated: repeated('\0', 10 * GIGABYTE), bytes: claimedBytes, crc: 0 });
