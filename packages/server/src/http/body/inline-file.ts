import { hash } from 'node:crypto';
import { imageType } from '@runwire/documents';
import type { RequestAttachment } from '../../attachments/request-attachment.ts';
import type { ImageDetail } from '../../domain/attachment/attachment.ts';
import { filenameProblem } from '../../domain/file/mount-path.ts';
import { decodeBase64, type InlineImage, isDataUrl, type NotDecoded } from './inline-image.ts';

export interface InlineLimits {
  readonly imageBytes: number;
  /** Maximum size of other decoded files. */
  readonly attachmentBytes: number;
}

/** Bytes that a foreign body contained. An image is found by its content. */
export type InlineFile =
  | InlineImage
  | {
      readonly isImage: false;
      /** What the data URL calls the type; null if it calls it nothing. */
      readonly mediaType: string | null;
      readonly sha256: string;
      readonly bytes: Uint8Array<ArrayBuffer>;
    };

const HEADER = /^data:([^;,]{0,127})(?:;[^;,]{0,127})*?;base64,/i;
const MAX_HEADER_CHARACTERS = 512;

/** Decodes a data URL, or base64 alone. */
export function decodeInlineFile(text: string, limits: InlineLimits): InlineFile | NotDecoded {
  const header = HEADER.exec(text.slice(0, MAX_HEADER_CHARACTERS));
  if (header === null && isDataUrl(text)) return { problem: 'must be base64: `data:application/pdf;base64,…`' };
  const decoded = decodeBase64(text, header?.[0].length ?? 0, Math.max(limits.imageBytes, limits.attachmentBytes));
  if ('problem' in decoded) return decoded;
  const { bytes } = decoded;
  if (bytes.length === 0) return { problem: 'is empty' };
  const image = imageType(bytes);
  const maxBytes = image === null ? limits.attachmentBytes : limits.imageBytes;
  if (bytes.length > maxBytes) return { problem: `must decode to at most ${maxBytes} bytes` };
  const sha256 = hash('sha256', bytes);
  if (image !== null) return { isImage: true, mediaType: image, sha256, bytes };
  return { isImage: false, mediaType: header?.[1] || null, sha256, bytes };
}

interface InlineAbout {
  readonly filename?: string | null;
  /** What the client calls the type; a data URL's own type wins. */
  readonly mediaType?: string | null;
  readonly detail?: ImageDetail;
}

/** Returns what is wrong, as the end of a sentence about the field. */
export function inlineAttachment(
  file: InlineFile | NotDecoded,
  { filename = null, mediaType = null, detail = 'auto' }: InlineAbout = {},
): RequestAttachment | NotDecoded {
  if ('problem' in file) return file;
  const problem = filename === null ? null : filenameProblem(filename);
  if (problem !== null) return { problem: `has a filename that ${problem}` };
  const { sha256, bytes } = file;
  if (file.isImage) return { kind: 'inline_image', sha256, bytes, mediaType: file.mediaType, detail };
  // PostgreSQL refuses U+0000, and types of files are ASCII.
  const named = file.mediaType ?? mediaType;
  const type = named !== null && /^[\w.+-]{1,63}\/[\w.+-]{1,63}$/.test(named) ? named.toLowerCase() : null;
  return { kind: 'inline_file', sha256, bytes, filename, mediaType: type };
}
