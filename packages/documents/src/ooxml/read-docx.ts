import mammoth from 'mammoth';
import { startOfText, wholeText } from '../conversion.ts';
import type { DocumentLimits } from '../document-limits.ts';
import { textOfHtml } from '../text-of-html.ts';
import { Unreadable } from '../unreadable.ts';
import { storedZip } from './stored-zip.ts';
import { refuseDeclarations } from './xml-events.ts';
import type { ZipArchive } from './zip-archive.ts';

/** Reads a DOCX's text: paragraphs, lists, tables, footnotes and endnotes; no pictures, headers or footers. */
export async function readDocx(zip: ZipArchive, limits: DocumentLimits): Promise<string> {
  const parts = new Map<string, Buffer>();
  for (const name of zip.names) {
    const bytes = /\.(?:xml|rels)$/i.test(name) ? zip.read(name) : null;
    if (bytes === null) continue;
    refuseDeclarations(bytes);
    parts.set(name, bytes);
  }
  const { value } = await mammoth.convertToHtml(
    { buffer: storedZip(parts) },
    {
      convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
      externalFileAccess: false,
      includeEmbeddedStyleMap: false,
    },
  );
  const { text, isWhole } = textOfHtml(value, limits.characters);
  if (text.trim() === '') throw new Unreadable('contains no text; attach pictures as images');
  return (isWhole ? wholeText : startOfText)(text, limits);
}
