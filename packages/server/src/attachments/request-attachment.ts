import type { AttachmentKind, ImageDetail, StoredAttachment } from '../domain/attachment/attachment.ts';
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
 * Inserts a message's attachments, in the transaction that admits its run. The bytes of inline images are
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
    const stored: StoredAttachment = { run_id: runId, position, ...listColumns(attachment, blob) };
    await tx.run(insertAttachment, { chat_key: chatKey, ...stored });
    inserted.push(stored);
  }
  return inserted;
}

function listColumns(
  attachment: RequestAttachment,
  blob: StoredBlob | null,
): Omit<StoredAttachment, 'run_id' | 'position'> {
  const { detail } = attachment;
  if (!isInline(attachment)) {
    const { kind, url, urlKey, filename } = attachment;
    const filename_json = filename === null ? null : JSON.stringify(filename);
    const unfetched = { form: null, media_type: null, pages: null, size_bytes: null, blob_key: null };
    return { kind, url, url_key: urlKey, filename_json, detail, ...unfetched };
  }
  return {
    kind: 'input_image',
    url: null,
    url_key: null,
    filename_json: null,
    detail,
    form: 'image',
    media_type: attachment.mediaType,
    pages: null,
    size_bytes: attachment.bytes.length,
    blob_key: blob?.blobKey ?? null,
  };
}
