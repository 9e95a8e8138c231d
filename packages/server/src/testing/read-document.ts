import { DEFAULT_DOCUMENT_LIMITS, type DocumentLimits } from '../files/documents/document-limits.ts';
import { DocumentReader, type Given, type ReadFile, Unreadable } from '../files/documents/document-reader.ts';
import type { StartChild } from '../files/documents/start-document-child.ts';

/** A reader with the limits of the product, but for these. */
export const documentReader = (limits: Partial<DocumentLimits> = {}, start?: StartChild): DocumentReader =>
  new DocumentReader({ ...DEFAULT_DOCUMENT_LIMITS, ...limits }, start);

export interface Asked extends Partial<Omit<Given, 'bytes'>> {
  readonly pdf?: boolean;
  readonly whose?: string;
  readonly signal?: AbortSignal;
}

export function readBytes(
  reader: DocumentReader,
  bytes: Uint8Array<ArrayBuffer>,
  asked: Asked = {},
): Promise<ReadFile> {
  const { contentType = null, name = 'file', kind = 'input_file', pdf = false, whose = 'a' } = asked;
  return reader.read({ bytes, contentType, name, kind }, { pdf, whose }, asked.signal ?? new AbortController().signal);
}

/** Its text, or why it is refused. Any other failure is thrown. */
export async function textOrReason(
  reader: DocumentReader,
  bytes: Uint8Array<ArrayBuffer>,
  asked: Asked = {},
): Promise<{ readonly text: string; readonly mediaType: string } | { readonly reason: string }> {
  try {
    const file = await readBytes(reader, bytes, asked);
    return {
      text: file.form === 'text' ? new TextDecoder('utf-8', { fatal: true }).decode(file.bytes) : '',
      mediaType: file.mediaType,
    };
  } catch (error) {
    if (error instanceof Unreadable) return { reason: error.message };
    throw error;
  }
}

export async function textOf(
  reader: DocumentReader,
  bytes: Uint8Array<ArrayBuffer>,
  asked: Asked = {},
): Promise<string> {
  const outcome = await textOrReason(reader, bytes, asked);
  if ('reason' in outcome) throw new Error(`It was refused: it ${outcome.reason}.`);
  return outcome.text;
}

export async function reasonOf(
  reader: DocumentReader,
  bytes: Uint8Array<ArrayBuffer>,
  asked: Asked = {},
): Promise<string> {
  const outcome = await textOrReason(reader, bytes, asked);
  if ('text' in outcome) throw new Error(`It was read: ${outcome.text.slice(0, 200)}`);
  return outcome.reason;
}
