/** A file as it came. */
export interface Given {
  /** Taken over by the reader; what is to be sent comes back. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The header as it was sent. */
  readonly contentType: string | null;
  readonly name: string;
  readonly kind: 'input_image' | 'input_file';
}

/** What a model is sent of it. The media type is that of the file as it came. */
export type ReadFile =
  | { readonly form: 'image'; readonly mediaType: string; readonly bytes: Uint8Array<ArrayBuffer> }
  | {
      readonly form: 'pdf';
      readonly mediaType: 'application/pdf';
      readonly pages: number;
      readonly bytes: Uint8Array<ArrayBuffer>;
    }
  /** UTF-8, with a note at its end where something was cut. */
  | { readonly form: 'text'; readonly mediaType: string; readonly bytes: Uint8Array<ArrayBuffer> };

export const asText = (mediaType: string, text: string): ReadFile => ({
  form: 'text',
  mediaType,
  bytes: new TextEncoder().encode(text),
});
