import { Unreadable } from '../unreadable.ts';
import { readXml } from './xml-events.ts';
import type { ZipArchive } from './zip-archive.ts';

export const DOCX_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const SAVE_ANEW = 'save it as DOCX, XLSX or PDF and attach that';

/** Returns the kind of a ZIP file by its parts. Throws the reason if it is neither DOCX nor XLSX. */
export function packageKind(zip: ZipArchive): 'docx' | 'xlsx' {
  const types = zip.read('[Content_Types].xml');
  if (types === null) throw new Unreadable(otherKind(zip));
  const mains: string[] = [];
  readXml(types, {
    open: (_, { ContentType = '' }) => {
      if (/[.]main(?:[+]xml)?$/i.test(ContentType)) mains.push(ContentType.toLowerCase());
    },
  });
  for (const type of mains) {
    // Files with macros, templates and strict files have the same parts.
    if (/wordprocessingml|vnd\.ms-word\./.test(type)) return 'docx';
    if (/sheet\.binary/.test(type))
      throw new Unreadable(`is a binary spreadsheet (XLSB), which is not supported; ${SAVE_ANEW}`);
    if (/spreadsheetml|vnd\.ms-excel\./.test(type)) return 'xlsx';
    if (/presentationml|vnd\.ms-powerpoint\./.test(type)) {
      throw new Unreadable('is a presentation (PPTX), which is not supported; save it as PDF and attach that');
    }
  }
  throw new Unreadable(`is an Office file of a type that is not supported; ${SAVE_ANEW}`);
}

function otherKind(zip: ZipArchive): string {
  const type = zip.names.includes('mimetype') ? String(zip.read('mimetype')) : '';
  if (type.startsWith('application/vnd.oasis.opendocument.')) {
    return `is in an OpenDocument format, which is not supported; ${SAVE_ANEW}`;
  }
  return 'is a ZIP archive, which is not supported; attach the files in it instead';
}
