import type { AttachmentKind, ImageDetail, StoredAttachment } from '../domain/attachment/attachment.ts';
import type { ChatKey, IntegrationId, RunId } from '../domain/ids.ts';
import { insertAttachment } from '../store/queries/attachments.ts';
import type { Tx } from '../store/store.ts';
import { referToBlob, type StoredBlob, type StoredBlobs } from './attachment-blobs.ts';

/** An attachment of a request whose body is checked: decoded bytes, or a URL that is fetched when the run starts. */
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
      readonly kind: 'inline_file';
      readonly sha256: string;
      readonly bytes: Uint8Array;
      readonly filename: string | null;
      /** As the caller wrote it; null if the request has none. Text files need it, because their content shows no type. */
      readonly mediaType: string | null;
    }
  | {
      readonly kind: AttachmentKind;
      readonly url: string;
      readonly urlKey: string;
      readonly filename: string | null;
      readonly detail: ImageDetail;
    };

type InlineAttachment = Extract<RequestAttachment, { kind: 'inline_image' | 'inline_file' }>;

/** True if the request contains the bytes. */
export const isInline = (attachment: RequestAttachment): attachment is InlineAttachment =>
  attachment.kind === 'inline_image' || attachment.kind === 'inline_file';

export const isInlineFile = ({ kind }: RequestAttachment): boolean => kind === 'inline_file';

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
  { byHash }: Pick<StoredBlobs, 'byHash'>,
): Promise<StoredAttachment[]> {
  const { chatKey, runId } = message;
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
  if (!isInline(attachment)) {
    const { kind, url, urlKey, filename, detail } = attachment;
    const filename_json = filename === null ? null : JSON.stringify(filename);
    const unfetched = { form: null, media_type: null, pages: null, size_bytes: null, blob_key: null };
    return { kind, url, url_key: urlKey, filename_json, detail, ...unfetched };
  }
  const blob_key = blob?.blobKey ?? null;
  const size_bytes = attachment.bytes.length;
  if (attachment.kind === 'inline_file') {
    const { filename, mediaType: media_type } = attachment;
    const filename_json = filename === null ? null : JSON.stringify(filename);
    const unread = { form: null, pages: null, media_type, size_bytes, blob_key };
    return { kind: 'input_file', url: null, url_key: null, filename_json, detail: 'auto', ...unread };
  }
  return {
    kind: 'input_image',
    url: null,
    url_key: null,
    filename_json: null,
    detail: attachment.detail,
    form: 'image',
    media_type: attachment.mediaType,
    pages: null,
    size_bytes,
    blob_key,
  };
}
