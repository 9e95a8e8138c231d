import type { AttachmentForm } from '../domain/attachment.ts';
import type { AttachmentBlobs } from '../files/attachment-blobs.ts';
import type { DocumentReader } from '../files/documents/document-reader.ts';
import type { FairBudget } from '../lib/fair-budget.ts';
import type { GuardedFetcher } from '../lib/guarded-fetch/guarded-fetch.ts';

/** What it takes to get attachments and to keep them. */
export interface AttachmentTools {
  readonly fetcher: Pick<GuardedFetcher, 'fetch'>;
  readonly reader: Pick<DocumentReader, 'read'>;
  readonly blobs: AttachmentBlobs;
  /** For the bytes of files that are being fetched or read. */
  readonly budget: FairBudget;
  /** Of one file. */
  readonly maxBytes: number;
}

/** What is sent of a file, and its hash. */
export interface SentFile {
  readonly form: AttachmentForm;
  /** Of the file that it was made from. */
  readonly mediaType: string;
  readonly pages: number | null;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
}
