import type { ImageDetail } from '@runwire/models';
import type { RunId } from '../ids.ts';

export type { ImageDetail };

export type AttachmentKind = 'input_image' | 'input_file';

/** The longest URL of an attachment. Servers commonly accept this much. */
export const MAX_URL_CHARACTERS = 8192;

/** How an attachment is sent to a model: unchanged as an image or PDF, or as the text that was made from it. */
export type AttachmentForm = 'image' | 'pdf' | 'text';

/**
 * A row of `attachments`: what a user sent with a message, inline or by URL.
 *
 * An attachment by URL is fetched when its run starts; from then on it has a form. The blob holds exactly what is sent:
 * the bytes of the image or the PDF, or the text. If the integration keeps no copies, there is no blob, and every turn
 * fetches the file again.
 */
export interface StoredAttachment {
  readonly run_id: RunId;
  /** The index in `attachments` of the request, from 0. */
  readonly position: number;
  readonly kind: AttachmentKind;
  /** As it was sent or last refreshed; null if it was sent inline. Never show it: its query may contain a key. */
  readonly url: string | null;
  /** The URL without query and fragment. It identifies the attachment and may be shown. */
  readonly url_key: string | null;
  readonly filename_json: string | null;
  readonly detail: ImageDetail;
  /** Null if it was not fetched yet. */
  readonly form: AttachmentForm | null;
  /** The fetched file's media type, detected from its content. */
  readonly media_type: string | null;
  /** The number of pages if a PDF is sent unchanged. */
  readonly pages: number | null;
  /** The size of what is sent. */
  readonly size_bytes: number | null;
  /** Null if no copy exists. */
  readonly blob_key: string | null;
}

/**
 * The name in prompts: the file name, or the last part of the URL's path. A fresh signed link has the same path, so the
 * name stays the same.
 */
export function attachmentName({
  filename_json: filename,
  url_key: urlKey,
}: Pick<StoredAttachment, 'filename_json' | 'url_key'>): string | null {
  if (filename !== null) return JSON.parse(filename) as string;
  if (urlKey === null) return null;
  const last = urlKey.slice(urlKey.lastIndexOf('/') + 1);
  if (last === '') return new URL(urlKey).hostname;
  try {
    const decoded = decodeURIComponent(last);
    return NOT_IN_NAMES.test(decoded) ? last : decoded;
  } catch {
    return last;
  }
}

/** Characters that would end a line or look like a folder. */
const NOT_IN_NAMES = /[\p{Cc}\u2028\u2029/\\]/u;
