import { CSV_TYPE, listClaims } from './claimed-type.ts';
import { declaresOtherThanUtf8 } from './decode-text.ts';
import { imageType } from './image-type.ts';
import { SAMPLE_BYTES, sniff } from './sniff.ts';

/**
 * How a stored file is read. `text` is UTF-8 as far as its start shows, and needs no conversion. `document` is read by a
 * `DocumentReader`, which may cut or refuse it. `other` has no text.
 */
export type StoredKind = 'text' | 'document' | 'image' | 'other';

/** The number of bytes at the start of a file that `storedKind` looks at. */
export const KIND_BYTES = SAMPLE_BYTES;

/** Decides how a file is read, by its first bytes, its content type and its name. */
export function storedKind(start: Uint8Array, contentType: string | null, name: string): StoredKind {
  if (imageType(start) !== null) return 'image';
  const claims = listClaims(contentType, name);
  const kind = sniff(start, claims);
  // Source code and Markdown can begin like a web page. A page that is named like a PDF is shown as it is.
  const isShownAsIs = kind === 'html' && !claims.html && (claims.text || claims.binary !== null);
  if (kind !== 'text' && kind !== 'unknown' && !isShownAsIs) return 'document';
  // A table has the limits of documents, whatever its character set is.
  if (kind === 'text' && claims.textType === CSV_TYPE) return 'document';
  if (isUtf8Text(start) && !declaresOtherThanUtf8(claims.charset)) return 'text';
  return kind === 'unknown' ? 'other' : 'document';
}

/** The last character of the start may be incomplete. */
function isUtf8Text(start: Uint8Array): boolean {
  if (start.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}
