import { hash } from 'node:crypto';
import { imageType } from '@runwire/documents';
import type { RequestAttachment } from '../../attachments/request-attachment.ts';
import type { ImageDetail } from '../../domain/attachment/attachment.ts';
import { filenameProblem } from '../../domain/file/mount-path.ts';
import { decodeBase64, isDataUrl } from './inline-image.ts';

export interface InlineLimits {
  readonly imageBytes: number;
  /** Maximum size of other decoded files. */
  readonly attachmentBytes: number;
}

interface InlineAbout {
  readonly filename?: string | null;
  /** What the client calls the type; a data URL's own type wins. */
  readonly mediaType?: string | null;
  readonly detail?: ImageDetail;
}

const HEADER = /^data:([^;,]{0,127})(?:;[^;,]{0,127})*?;base64,/i;
const MAX_HEADER_CHARACTERS = 512;

/**
 * Reads the bytes that a foreign body contains: a data URL, or base64 alone. An image is found by its content. Returns what is
 * wrong, as the end of a sentence about the field.
 */
export function inlineAttachment(
  text: string,
  limits: InlineLimits,
  about: InlineAbout = {},
): RequestAttachment | { readonly problem: string } {
  const header = HEADER.exec(text.slice(0, MAX_HEADER_CHARACTERS));
  if (header === null && isDataUrl(text)) return { problem: 'must be base64: `data:application/pdf;base64,…`' };
  const maxBytes = Math.max(limits.imageBytes, limits.attachmentBytes);
  const decoded = decodeBase64(text, header?.[0].length ?? 0, maxBytes);
  if ('problem' in decoded) return decoded;
  return attachmentOfBytes(decoded.bytes, limits, { ...about, mediaType: header?.[1] || about.mediaType || null });
}

/** The same for bytes that are decoded already. */
export function attachmentOfBytes(
  bytes: Uint8Array,
  limits: InlineLimits,
  { filename = null, mediaType = null, detail = 'auto' }: InlineAbout = {},
): RequestAttachment | { readonly problem: string } {
  const problem = filename === null ? null : filenameProblem(filename);
  if (problem !== null) return { problem: `has a filename that ${problem}` };
  const image = imageType(bytes);
  const maxBytes = image === null ? limits.attachmentBytes : limits.imageBytes;
  if (bytes.length === 0) return { problem: 'is empty' };
  if (bytes.length > maxBytes) return { problem: `must decode to at most ${maxBytes} bytes` };
  const sha256 = hash('sha256', bytes);
  if (image !== null) return { kind: 'inline_image', sha256, bytes, mediaType: image, detail };
  // PostgreSQL refuses U+0000, and types of files are ASCII.
  const type = mediaType !== null && /^[\w.+-]{1,63}\/[\w.+-]{1,63}$/.test(mediaType) ? mediaType.toLowerCase() : null;
  return { kind: 'inline_file', sha256, bytes, filename, mediaType: type };
}
