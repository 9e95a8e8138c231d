import { getResolvedPDFJS } from 'unpdf';
import { type Conversion, withNotes } from './conversion.ts';
import { GatheredText } from './gathered-text.ts';
import { filledFields } from './pdf-form.ts';
import { Unreadable } from './unreadable.ts';

type PdfDocument = Awaited<ReturnType<Awaited<ReturnType<typeof getResolvedPDFJS>>['getDocument']>['promise']>;

const DAMAGED = 'is damaged: it cannot be opened as a PDF; attach an undamaged copy';

/** Returns the number of pages of a PDF. It must open and have a first page. */
export async function pagesOfPdf(bytes: Uint8Array): Promise<number> {
  // PDF.js takes ownership of the bytes.
  return withPdf(new Uint8Array(bytes), async (pdf) => {
    await pdf.getPage(1);
    return pdf.numPages;
  });
}

/** Reads a PDF's text, page by page. */
export function readPdf({ bytes, limits, wholePart }: Conversion): Promise<string> {
  return withPdf(bytes, async (pdf, lacking) => {
    const gathered = new GatheredText(limits.characters);
    const of = pdf.numPages;
    const last = Math.min(of, limits.pages);
    let anyText = false;
    let failed = 0;
    let number = 0;
    while (number < last && !gathered.isFull) {
      number += 1;
      const heading = `${number === 1 ? '' : '\n\n'}[Page ${number}]\n`;
      const page = await textOfPage(pdf, number, limits.characters);
      if (page === null) failed += 1;
      anyText ||= page !== null && page.trim() !== '';
      const text = gathered.add(`${heading}${page?.trimEnd() ?? '[This page is damaged and could not be read.]'}`);
      if (!gathered.isFull) wholePart({ text, mediaType: 'application/pdf', unit: 'page', number, of });
    }
    if (failed === number) throw new Unreadable(DAMAGED);
    if (!anyText && lacking.characterSet) throw new Unreadable(LACKS_CHARACTER_SET);
    if (!anyText) throw new Unreadable(number < of ? noText(`its first ${number} pages`) : noText('it'));
    const cut = gathered.isFull
      ? `[Cut here: the first ${limits.characters} characters are shown, which end on page ${number} of ${of}.]`
      : number < of
        ? `[Cut here: pages 1 to ${number} of ${of} are shown.]`
        : null;
    return withNotes(`${gathered}\n`, [cut, lacking.characterSet ? LACKING_NOTE : null]);
  });
}

/** PDF.js loads these tables from separate files, which are not included here. */
const LACKS_CHARACTER_SET =
  'has text in a Chinese, Japanese or Korean character set that is not supported; save it with its fonts embedded, or use a model that accepts PDFs';
const LACKING_NOTE =
  '[Note: some text is missing: it is in a Chinese, Japanese or Korean character set that could not be read.]';

const noText = (where: string) =>
  `has no text in ${where}, so it may be a scan; attach a version with recognised text, or use a model that accepts PDFs`;

/** The heading above the filled-in a page's fields, which are no part of its text. */
const FORM_HEADING = '[Form fields of this page]';

const END_WITHIN_BYTES = 64 * 1024;

/** PDF.js repairs a truncated file and would show the rest as if it were complete. */
const hasEnd = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(-END_WITHIN_BYTES).includes('startxref');

interface Lacking {
  characterSet: boolean;
}

async function withPdf<T>(data: Uint8Array, use: (pdf: PdfDocument, lacking: Lacking) => Promise<T>): Promise<T> {
  if (!hasEnd(data)) throw new Unreadable('is damaged: its end is missing; attach an undamaged copy');
  const lacking = { characterSet: false };
  class NoFiles {
    readonly fetch = async ({ kind }: { readonly kind: string }): Promise<never> => {
      lacking.characterSet ||= kind === 'cMapUrl';
      throw new Error('The PDF library asked for a file, and it has none.');
    };
  }
  const { getDocument, VerbosityLevel } = await getResolvedPDFJS();
  const task = getDocument({
    data,
    verbosity: VerbosityLevel.ERRORS,
    disableFontFace: true,
    useSystemFonts: false,
    useWasm: false,
    useWorkerFetch: false,
    BinaryDataFactory: NoFiles,
    isImageDecoderSupported: false,
    isOffscreenCanvasSupported: false,
    enableXfa: false,
    disableAutoFetch: true,
    disableStream: true,
  });
  try {
    return await use(await task.promise, lacking);
  } catch (error) {
    throw getMeaning(error);
  } finally {
    await task.destroy();
  }
}

function getMeaning(error: unknown): Unreadable {
  if (error instanceof Unreadable) return error;
  const name = error instanceof Error ? error.name : '';
  if (name === 'PasswordException') return new Unreadable('is encrypted; attach it without a password');
  return new Unreadable(DAMAGED);
}

/** Returns null if the page is damaged. */
async function textOfPage(pdf: PdfDocument, number: number, maxCharacters: number): Promise<string | null> {
  try {
    const page = await pdf.getPage(number);
    const reader = page.streamTextContent().getReader();
    const parts: string[] = [];
    let units = 0;
    for (;;) {
      const { done, value } = (await reader.read()) as TextChunk;
      if (done) break;
      for (const { str, hasEOL } of value.items) {
        parts.push(str, hasEOL ? '\n' : '');
        units += str.length;
      }
      // A character has at most two code units.
      if (units > 2 * maxCharacters) {
        await reader.cancel(new Error('enough'));
        break;
      }
    }
    const fields = await getFields(page, 2 * maxCharacters);
    page.cleanup();
    const text = parts.join('');
    return fields.length === 0
      ? text
      : [text.trimEnd(), FORM_HEADING, ...fields].filter((line) => line !== '').join('\n');
  } catch {
    return null;
  }
}

const getFields = (page: Awaited<ReturnType<PdfDocument['getPage']>>, maxUnits: number) =>
  page.getAnnotations().then(
    (annotations) => filledFields(annotations, maxUnits),
    () => ['[They are damaged and could not be read.]'],
  );

type TextChunk =
  | { readonly done: true; readonly value: undefined }
  | { readonly done: false; readonly value: { readonly items: readonly TextItem[] } };

interface TextItem {
  readonly str: string;
  readonly hasEOL: boolean;
}
