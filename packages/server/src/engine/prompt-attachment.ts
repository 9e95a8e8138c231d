import type { PromptAttachment } from '../agent/ports.ts';
import { attachmentName } from '../domain/attachment.ts';
import { attachmentText, unreadPdfText } from '../domain/attachment-text.ts';
import { sha256OfKey } from '../storage/blob-store.ts';
import type { ReadyAttachment, RunAttachments, UnreadPdf } from './ready-attachments.ts';

/** It as a model is shown it. Bytes are read when the request to the provider is made, and not before. */
export function promptAttachment(
  ready: ReadyAttachment | UnreadPdf,
  attachments: Pick<RunAttachments, 'read'>,
): PromptAttachment {
  const name = attachmentName(ready);
  if ('isUnread' in ready) {
    return { kind: 'text', name: name ?? '', mediaType: ready.mediaType, text: unreadPdfText(name ?? '') };
  }
  const { form, mediaType, sizeBytes, detail, pages, blobKey } = ready;
  const read = () => attachments.read(ready);
  switch (form) {
    case 'image':
      return { kind: 'image', name, mediaType, sizeBytes, detail, read };
    case 'pdf':
      return { kind: 'pdf', name: name ?? '', mediaType, sizeBytes, pages: pages ?? 1, read };
    case 'text': {
      const about = { name: name ?? '', mediaType, sha256: sha256OfKey(blobKey) };
      return { kind: 'text', name: about.name, mediaType, text: attachmentText(about, ready.text ?? '') };
    }
  }
}
