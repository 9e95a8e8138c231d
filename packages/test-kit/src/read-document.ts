import {
  DEFAULT_DOCUMENT_LIMITS,
  type DocumentLimits,
  DocumentReader,
  type FileContent,
  type SourceFile,
  type StartChild,
  Unreadable,
} from '@runwire/documents';
import { FairBudget } from '@runwire/lib/fair-budget.ts';

/** A reader with the limits of the product except for these, in an installation with one owner. */
export function documentReader(some: Partial<DocumentLimits> = {}, start?: StartChild): DocumentReader {
  const limits = { ...DEFAULT_DOCUMENT_LIMITS, ...some };
  return new DocumentReader(limits, new FairBudget(limits.workers, () => false), start);
}

export interface DocumentOptions extends Partial<Omit<SourceFile, 'bytes'>> {
  readonly pdf?: boolean;
  readonly ownerId?: string;
  readonly signal?: AbortSignal;
}

export function readBytes(
  reader: DocumentReader,
  bytes: Uint8Array<ArrayBuffer>,
  options: DocumentOptions = {},
): Promise<FileContent> {
  const { contentType = null, name = 'file', kind = 'input_file', pdf = false, ownerId = 'a' } = options;
  return reader.read(
    { bytes, contentType, name, kind },
    { pdf, ownerId },
    options.signal ?? new AbortController().signal,
  );
}

/** Returns its text, or its refusal's reason. Any other failure is thrown. */
export async function textOrReason(
  reader: DocumentReader,
  bytes: Uint8Array<ArrayBuffer>,
  options: DocumentOptions = {},
): Promise<{ readonly text: string; readonly mediaType: string } | { readonly reason: string }> {
  try {
    const file = await readBytes(reader, bytes, options);
    return {
      text: file.form === 'text' ? new TextDecoder('utf-8', { fatal: true }).decode(file.bytes) : '',
      mediaType: file.mediaType,
    };
  } catch (error) {
    if (error instanceof Unreadable) return { reason: error.message };
    throw error;
  }
}

export async function toText(
  reader: DocumentReader,
  bytes: Uint8Array<ArrayBuffer>,
  options: DocumentOptions = {},
): Promise<string> {
  const outcome = await textOrReason(reader, bytes, options);
  if ('reason' in outcome) throw new Error(`It was refused: it ${outcome.reason}.`);
  return outcome.text;
}

export async function getReason(
  reader: DocumentReader,
  bytes: Uint8Array<ArrayBuffer>,
  options: DocumentOptions = {},
): Promise<string> {
  const outcome = await textOrReason(reader, bytes, options);
  if ('text' in outcome) throw new Error(`It was read: ${outcome.text.slice(0, 200)}`);
  return outcome.reason;
}
