import type { DocumentReader } from '@runwire/documents';
import type { AttachmentBlobs } from '../attachments/attachment-blobs.ts';
import type { AttachmentForm } from '../domain/attachment.ts';
import type { GuardedFetcher } from '../guarded-fetch/guarded-fetch.ts';
import type { FairBudget } from '../lib/fair-budget.ts';

/** What runs use to fetch, read and keep attachments. */
export interface AttachmentTools {
  readonly fetcher: Pick<GuardedFetcher, 'fetch'>;
  readonly reader: Pick<DocumentReader, 'read'>;
  readonly blobs: AttachmentBlobs;
  /** For the bytes of files that are being fetched or read. */
  readonly budget: FairBudget;
  /** The limit of one file. */
  readonly maxBytes: number;
}

/** The form in which a file is sent, and its hash. */
export interface SentFile {
  readonly form: AttachmentForm;
  /** The media type of the original file. */
  readonly mediaType: string;
  readonly pages: number | null;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
}
