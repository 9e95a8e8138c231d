import { attachmentName, type StoredAttachment } from './attachment.ts';
import { IMAGE_TEXT_BYTES } from './usage.ts';

const MARK_CHARACTERS = 16;

/**
 * A file's text as a model is shown it: the same words in every turn, and no address. The line at its end holds the
 * beginning of the text's own hash, which no file can hold: what looks like the end of a file inside one is not taken for
 * it, and what stands behind is still the file's.
 */
export function attachmentText(
  { name, mediaType, sha256 }: { readonly name: string; readonly mediaType: string; readonly sha256: string },
  text: string,
): string {
  const mark = sha256.slice(0, MARK_CHARACTERS);
  const end = `[End of file ${mark}]`;
  return `[File ${mark}: ${JSON.stringify(name)}, ${mediaType}. Its text follows, up to the line ${end}]\n${text}\n${end}`;
}

/**
 * What a model that takes no PDFs is shown of one that an earlier turn was sent as it is, and which has no text: the same
 * words in every turn.
 */
export function unreadPdfText(name: string): string {
  return `[File ${JSON.stringify(name)}, application/pdf: it was attached as a PDF, and this model takes none; no text could be read from it]`;
}

const ANY_MARK = '0'.repeat(MARK_CHARACTERS);

/** What of a prompt it takes, as its row says: the text, or for an image and a page of a PDF the text that costs as much. */
export function attachedBytes(attachment: StoredAttachment): number {
  const { form, pages, sizeBytes, mediaType } = attachment;
  if (form === null) return 0;
  if (form !== 'text') return (form === 'pdf' ? (pages ?? 1) : 1) * IMAGE_TEXT_BYTES;
  const name = attachmentName(attachment) ?? '';
  return (
    Buffer.byteLength(attachmentText({ name, mediaType: mediaType ?? '', sha256: ANY_MARK }, '')) + (sizeBytes ?? 0)
  );
}
