import type { Attachment, AttachmentKind, ImageDetail } from '../domain/attachment.ts';
import { insertAttachment } from '../store/queries/attachments.ts';
import type { Tx } from '../store/store.ts';
import { type HashedBytes, type KeptBlob, referToBlob } from './attachment-blobs.ts';

/** An image of a request, decoded and found to be one. */
export interface InlineAttachment extends HashedBytes {
  readonly mediaType: string;
  readonly detail: ImageDetail;
}

/** By a URL whose text is good; what it leads to is seen when the run starts. */
export interface UrlAttachment {
  readonly kind: AttachmentKind;
  readonly url: string;
  readonly urlKey: string;
  readonly filename: string | null;
  readonly detail: ImageDetail;
}

export type GivenAttachment = InlineAttachment | UrlAttachment;

export const isInline = (given: GivenAttachment): given is InlineAttachment => 'bytes' in given;

/** Inline, and its bytes durable; or by URL. */
export type KeptAttachment = (Omit<InlineAttachment, 'bytes'> & { readonly blob: KeptBlob }) | UrlAttachment;

/** Within the admitting transaction: the message refers to what came with it from its commit on. */
export async function referToAttachments(
  tx: Tx,
  of: { readonly integrationId: string; readonly chatKey: string; readonly runId: string; readonly now: number },
  all: readonly KeptAttachment[],
): Promise<Attachment[]> {
  const { chatKey, runId } = of;
  const attached: Attachment[] = [];
  for (const [position, kept] of all.entries()) {
    if ('blob' in kept) await referToBlob(tx, of, kept.blob);
    const attachment: Attachment = { runId, position, ...('blob' in kept ? inlineColumns(kept) : urlColumns(kept)) };
    const { filename, ...columns } = attachment;
    const filenameJson = filename === null ? null : JSON.stringify(filename);
    await tx.run(insertAttachment, { chatKey, ...columns, filenameJson });
    attached.push(attachment);
  }
  return attached;
}

type Columns = Omit<Attachment, 'runId' | 'position'>;

function inlineColumns({ blob, mediaType, detail }: Extract<KeptAttachment, { blob: KeptBlob }>): Columns {
  return {
    kind: 'input_image',
    url: null,
    urlKey: null,
    filename: null,
    detail,
    form: 'image',
    mediaType,
    pages: null,
    sizeBytes: blob.sizeBytes,
    blobKey: blob.blobKey,
  };
}

function urlColumns({ kind, url, urlKey, filename, detail }: UrlAttachment): Columns {
  const unfetched = { form: null, mediaType: null, pages: null, sizeBytes: null, blobKey: null };
  return { kind, url, urlKey, filename, detail, ...unfetched };
}
