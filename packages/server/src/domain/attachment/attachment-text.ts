import { IMAGE_TEXT_BYTES } from '../model/usage.ts';
import { attachmentName, type StoredAttachment } from './attachment.ts';

const MARK_CHARACTERS = 16;

/**
 * A file's text as the model is shown it: the same in every turn, and without the URL. The last line contains the
 * start of the text's own hash, which no file can contain. So a line inside a file that imitates the end cannot be mistaken
 * for it, and the text after that line still belongs to the file.
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
 * Replaces a PDF without text that an earlier turn sent unchanged, for a model that accepts no PDFs. The same words in every
 * turn.
 */
export function unreadPdfText(name: string): string {
  return `[File ${JSON.stringify(name)}, application/pdf: it was attached as a PDF, and this model takes none; no text could be read from it]`;
}

const ANY_MARK = '0'.repeat(MARK_CHARACTERS);

/**
 * An attachment's size in a prompt, from its row: its text's length. An image or a page of a PDF counts as the
 * length of text that costs as much.
 */
export function attachedBytes(attachment: StoredAttachment): number {
  const { form, pages, size_bytes, media_type } = attachment;
  if (form === null) return 0;
  if (form !== 'text') return (form === 'pdf' ? (pages ?? 1) : 1) * IMAGE_TEXT_BYTES;
  const name = attachmentName(attachment) ?? '';
  return (
    Buffer.byteLength(attachmentText({ name, mediaType: media_type ?? '', sha256: ANY_MARK }, '')) + (size_bytes ?? 0)
  );
}
