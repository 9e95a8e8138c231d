export interface DocumentLimits {
  /** Of a PDF that is read as text. */
  readonly pages: number;
  /** Of the text that is made of a file: Unicode code points, without the note at its end. */
  readonly characters: number;
  readonly conversionMs: number;
  /** All parts of a DOCX or XLSX together. */
  readonly unzippedBytes: number;
  /** Of a PDF that is sent as it is. */
  readonly nativePdfPages: number;
  /** Threads. */
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
