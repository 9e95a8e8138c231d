import type { FileContent } from '@runwire/documents';
import type { PromptAttachment } from '@runwire/models';
import { type AttachmentForm, attachmentName, type StoredAttachment } from '../domain/attachment/attachment.ts';
import { attachmentText, unreadPdfText } from '../domain/attachment/attachment-text.ts';
import { type BlobKey, sha256OfKey } from '../storage/blob-store.ts';

/** An attachment that a prompt can contain. Its bytes stay in the blob store at least until the run ends. */
export interface ReadyAttachment extends StoredAttachment {
  readonly form: AttachmentForm;
  readonly media_type: string;
  readonly size_bytes: number;
  /** Exactly what the model is shown if the form is `text`; otherwise null. */
  readonly text: string | null;
}

export function readyFromContent(row: StoredAttachment, content: FileContent, blobKey: BlobKey): ReadyAttachment {
  const { form, mediaType, pages, bytes } = content;
  const text = form === 'text' ? shownText(row, mediaType, blobKey, bytes) : null;
  return { ...row, form, media_type: mediaType, pages, size_bytes: bytes.length, blob_key: blobKey, text };
}

/** A file's text as the model is shown it, with the file's name and type around it. */
export function shownText(row: StoredAttachment, mediaType: string, blobKey: BlobKey, bytes: Uint8Array): string {
  const about = { name: attachmentName(row) ?? '', mediaType, sha256: sha256OfKey(blobKey) };
  return attachmentText(about, new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
}

/** A PDF that an earlier turn sent unchanged. This run's model accepts no PDFs, and the PDF contains no text. */
export function readyUnreadPdf(row: StoredAttachment): ReadyAttachment {
  const text = unreadPdfText(attachmentName(row) ?? '');
  return { ...row, form: 'text', media_type: 'application/pdf', size_bytes: row.size_bytes ?? 0, text };
}

/** `read` is called each time when the request to the provider is made, and not before. */
export function promptAttachment(ready: ReadyAttachment, read: () => Promise<Uint8Array>): PromptAttachment {
  const name = attachmentName(ready);
  const { form, media_type: mediaType, size_bytes: sizeBytes, detail, pages } = ready;
  switch (form) {
    case 'image':
      return { kind: 'image', name, mediaType, sizeBytes, detail, read };
    case 'pdf':
      return { kind: 'pdf', name: name ?? '', mediaType, sizeBytes, pages: pages ?? 1, read };
    case 'text':
      return { kind: 'text', name: name ?? '', mediaType, text: ready.text ?? '' };
  }
}
