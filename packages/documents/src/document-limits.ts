export interface DocumentLimits {
  /** The pages of a PDF that are read as text. */
  readonly pages: number;
  /** The text's length in Unicode code points, without the note at its end. */
  readonly characters: number;
  readonly conversionMs: number;
  /** The size of all parts of a DOCX or XLSX together. */
  readonly unzippedBytes: number;
  /** The pages of a PDF that is sent without conversion. */
  readonly nativePdfPages: number;
  /** The number of concurrent processes. */
  readonly workers: number;
}

export const DEFAULT_DOCUMENT_LIMITS: DocumentLimits = {
  pages: 500,
  characters: 200_000,
  conversionMs: 30_000,
  unzippedBytes: 100 * 1024 * 1024,
  nativePdfPages: 100,
  workers: 2,
};
