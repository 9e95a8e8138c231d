/** A file before it is read. */
export interface SourceFile {
  /** The reader takes ownership of these bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The `Content-Type` header of the response, or null. */
  readonly contentType: string | null;
  readonly name: string;
  readonly kind: 'input_image' | 'input_file';
}

/** What a model is sent of a file: an image or a PDF unchanged, or its text. */
export interface FileContent {
  readonly form: 'image' | 'pdf' | 'text';
  /** The source file's media type, detected from its content. */
  readonly mediaType: string;
  /** The number of pages of a PDF that is sent unchanged; otherwise null. */
  readonly pages: number | null;
  /** Text is UTF-8. If some of it was cut, a note at its end reports that. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export const asText = (mediaType: string, text: string): FileContent => ({
  form: 'text',
  mediaType,
  pages: null,
  bytes: new TextEncoder().encode(text),
});
