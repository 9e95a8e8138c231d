import { listClaims } from './claimed-type.ts';
import { whyNoCompoundFile } from './compound-file.ts';
import { type Conversion, startOfText, wholeText } from './conversion.ts';
import { charsetOfHtml, decodeText } from './decode-text.ts';
import { asText, type FileContent, type SourceFile } from './file-content.ts';
import { readText, refuseFalseClaim } from './read-text.ts';
import { sniff } from './sniff.ts';
import { Unreadable } from './unreadable.ts';

export interface ToConvert extends SourceFile, Conversion {
  /** True if a PDF may be sent to the model without conversion. */
  readonly pdf: boolean;
}

/** Converts a file that is no image for a model. The library of each kind is loaded on demand. */
export async function convert(file: ToConvert): Promise<FileContent> {
  const { bytes, limits } = file;
  const claims = listClaims(file.contentType, file.name);
  switch (sniff(bytes, claims)) {
    case 'pdf':
      return convertPdf(file);
    case 'html': {
      refuseFalseClaim(claims, 'a web page, such as one to sign in');
      const { text, note } = decodeText(bytes, claims.charset ?? charsetOfHtml(bytes));
      const { textOfHtml } = await import('./text-of-html.ts');
      const page = textOfHtml(text, limits.characters);
      if (page.text.trim() === '') throw new Unreadable('is a web page that contains no text');
      return asText('text/html', (page.isWhole ? wholeText : startOfText)(page.text, limits, note));
    }
    case 'text':
      return asText(claims.textType, readText(bytes, claims, limits));
    case 'zip':
      return convertPackage(file);
    case 'compound':
      throw new Unreadable(whyNoCompoundFile(bytes));
    case 'rtf':
      throw new Unreadable('is in RTF format, which is not supported; save it as DOCX or PDF and attach that');
    case 'unknown':
      throw new Unreadable(
        'has a type that is not supported; attach a PDF, DOCX, XLSX, HTML or text file, or an image',
      );
  }
}

async function convertPackage(file: ToConvert): Promise<FileContent> {
  const { ZipArchive } = await import('./ooxml/zip-archive.ts');
  const { DOCX_TYPE, packageKind, XLSX_TYPE } = await import('./ooxml/package-kind.ts');
  const zip = new ZipArchive(file.bytes, file.limits.unzippedBytes);
  if (packageKind(zip) === 'xlsx') {
    const { readXlsx } = await import('./ooxml/read-xlsx.ts');
    return asText(XLSX_TYPE, readXlsx(zip, file));
  }
  const { readDocx } = await import('./ooxml/read-docx.ts');
  return asText(DOCX_TYPE, await readDocx(zip, file.limits));
}

async function convertPdf(file: ToConvert): Promise<FileContent> {
  const { pagesOfPdf, readPdf } = await import('./read-pdf.ts');
  if (file.pdf) {
    const pages = await pagesOfPdf(file.bytes);
    if (pages <= file.limits.nativePdfPages) {
      return { form: 'pdf', mediaType: 'application/pdf', pages, bytes: file.bytes };
    }
  }
  return asText('application/pdf', await readPdf(file));
}
