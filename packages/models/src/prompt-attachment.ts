export type ImageDetail = 'auto' | 'low' | 'high';

/** An image of a user's message or of a tool's output. */
export interface PromptImage {
  readonly kind: 'image';
  /** Null if the image was sent inline, or if a tool returned it. */
  readonly name: string | null;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly detail: ImageDetail;
  readonly read: () => Promise<Uint8Array>;
}

/**
 * An attachment of a user's message as the model gets it: an image, a PDF for a model that accepts PDFs, or the text of
 * any other file. `read` reads the bytes each time, so that no prompt keeps them in memory; if it rejects
 * with a `ModelFailure`, the call rejects with the same.
 */
export type PromptAttachment =
  | PromptImage
  | {
      readonly kind: 'pdf';
      readonly name: string;
      readonly mediaType: string;
      readonly sizeBytes: number;
      readonly pages: number;
      readonly read: () => Promise<Uint8Array>;
    }
  | {
      readonly kind: 'text';
      readonly name: string;
      /** The media type of the file that the text was made from. */
      readonly mediaType: string;
      /** Exactly what the model is shown: the name and type of the file, then its text. */
      readonly text: string;
    };
