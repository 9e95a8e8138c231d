export type ImageDetail = 'auto' | 'low' | 'high';

export type AttachmentKind = 'input_image' | 'input_file';

/** Of the URL of an attachment: as much as servers commonly take. */
export const MAX_URL_CHARACTERS = 8192;

/** How it is sent to a model: as it is, or as the text that was made from it. */
export type AttachmentForm = 'image' | 'pdf' | 'text';

/**
 * What came with a user's message, inline or by its URL.
 *
 * By URL it is fetched when its run starts; from then on it has a form. The blob holds exactly what is sent: the bytes of
 * the image or the PDF, or the text. An integration that keeps no copies has none, and it is fetched again in each turn.
 */
export interface Attachment {
  readonly runId: string;
  /** Its place in `attachments`, from 0. */
  readonly position: number;
  readonly kind: AttachmentKind;
  /** As it was given, or as it was last refreshed; null: it came inline. Its query may be a key: it is shown to nobody. */
  readonly url: string | null;
  /** Without query and fragment: what it is called. */
  readonly urlKey: string | null;
  readonly filename: string | null;
  readonly detail: ImageDetail;
  /** Null: it was not fetched yet. */
  readonly form: AttachmentForm | null;
  /** Of what was fetched, by its content. */
  readonly mediaType: string | null;
  /** Of a PDF that is sent as it is. */
  readonly pages: number | null;
  /** Of what is sent. */
  readonly sizeBytes: number | null;
  /** Null: there is no copy. */
  readonly blobKey: string | null;
}

/** What it is called in prompts: by its own name, or the last part of its address. Stays the same when its link is signed anew. */
export function attachmentName({ filename, urlKey }: Pick<Attachment, 'filename' | 'urlKey'>): string | null {
  if (filename !== null || urlKey === null) return filename;
  const last = urlKey.slice(urlKey.lastIndexOf('/') + 1);
  if (last === '') return new URL(urlKey).hostname;
  try {
    const decoded = decodeURIComponent(last);
    return NOT_IN_NAMES.test(decoded) ? last : decoded;
  } catch {
    return last;
  }
}

/** What would end a line, or look like a folder. */
const NOT_IN_NAMES = /[\p{Cc}\u2028\u2029/\\]/u;
