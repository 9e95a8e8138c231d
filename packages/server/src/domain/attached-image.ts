export type ImageDetail = 'auto' | 'low' | 'high';

/** An image that came with a user's message, and the blob that holds it. */
export interface AttachedImage {
  readonly runId: string;
  /** Its place in `attachments`, from 0. */
  readonly position: number;
  readonly blobKey: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly detail: ImageDetail;
}
