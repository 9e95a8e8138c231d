import type { AttachmentKind, ImageDetail, StoredAttachment } from '../domain/attachment.ts';
import type { ChatKey, IntegrationId, RunId } from '../domain/ids.ts';
import { claimBlobs } from '../files/pending-blobs.ts';
import { insertAttachment } from '../store/queries/attachments.ts';
import type { Tx } from '../store/store.ts';
import { referToBlob, type StoredBlob, type StoredBlobs } from './attachment-blobs.ts';

/** An attachment of a request whose body is checked: a decoded image, or a URL that is fetched when the run starts. */
export type RequestAttachment =
  | {
      readonly kind: 'inline_image';
      readonly sha256: string;
      readonly bytes: Uint8Array;
      /** Detected from the bytes. */
      readonly mediaType: string;
      readonly detail: ImageDetail;
    }
  | {
      readonly kind: AttachmentKind;
      readonly url: string;
      readonly urlKey: string;
      readonly filename: string | null;
      readonly detail: ImageDetail;
    };

export const isInline = (
  attachment: RequestAttachment,
): attachment is Extract<RequestAttachment, { kind: 'inline_image' }> => attachment.kind === 'inline_image';

interface AdmittedMessage {
  readonly integrationId: IntegrationId;
  readonly chatKey: ChatKey;
  readonly runId: RunId;
  readonly now: number;
}

/**
 * Inserts the attachments of a message, in the transaction that admits its run. The bytes of inline images are
 * durable before this transaction.
 */
export async function insertAttachments(
  tx: Tx,
  message: AdmittedMessage,
  attachments: readonly RequestAttachment[],
  { byHash, batch }: StoredBlobs,
): Promise<StoredAttachment[]> {
  const { chatKey, runId } = message;
  if (batch !== null) await claimBlobs(tx, batch);
  const inserted: StoredAttachment[] = [];
  for (const [position, attachment] of attachments.entries()) {
    const blob = isInline(attachment) ? byHash.get(attachment.sha256) : null;
    if (blob === undefined) throw new Error('The bytes of an inline image were not stored.');
    if (blob !== null) await referToBlob(tx, message, blob);
    const stored: StoredAttachment = { runId, position, ...columnsOf(attachment, blob) };
    const { filename, ...columns } = stored;
    const filenameJson = filename === null ? null : JSON.stringify(filename);
    await tx.run(insertAttachment, { chatKey, ...columns, filenameJson });
    inserted.push(stored);
  }
  return inserted;
}

function columnsOf(
  attachment: RequestAttachment,
  blob: StoredBlob | null,
): Omit<StoredAttachment, 'runId' | 'position'> {
  const { detail } = attachment;
  if (!isInline(attachment)) {
    const { kind, url, urlKey, filename } = attachment;
    const unfetched = { form: null, mediaType: null, pages: null, sizeBytes: null, blobKey: null };
    return { kind, url, urlKey, filename, detail, ...unfetched };
  }
  return {
    kind: 'input_image',
    url: null,
    urlKey: null,
    filename: null,
    detail,
    form: 'image',
    mediaType: attachment.mediaType,
    pages: null,
    sizeBytes: attachment.bytes.length,
    blobKey: blob?.blobKey ?? null,
  };
}
