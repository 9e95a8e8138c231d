import type { PromptAttachment } from '../agent/ports.ts';
import { attachmentName } from '../domain/attachment.ts';
import { attachmentText } from '../domain/attachment-text.ts';
import { sha256OfKey } from '../files/blob-store.ts';
import type { ReadyAttachment, RunAttachments } from './ready-attachments.ts';

/** It as a model is shown it. Bytes are read when the request to the provider is made, and not before. */
export function promptAttachment(ready: ReadyAttachment, attachments: Pick<RunAttachments, 'read'>): PromptAttachment {
  const { form, mediaType, sizeBytes, detail, pages, blobKey } = ready;
  const name = attachmentName(ready);
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
