import type { GivenImage, ImageResult } from '../domain/run/tool-image.ts';

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** A part of `content`. Versions of the AI SDK have different types and fields. */
interface OutputPart {
  readonly type: string;
  readonly text?: unknown;
  readonly data?: unknown;
  readonly mediaType?: unknown;
}

/** The types of parts with bytes, in the versions 5, 6 and 7 of the AI SDK. */
const DATA_PARTS: ReadonlySet<string> = new Set(['media', 'image-data', 'file-data', 'file']);
/** `image` and `image/*` are types too. The server detects the real one. */
const MAY_BE_IMAGE = /^(?:image(?:\/.*)?|application\/octet-stream)$/i;

/** Converts `ToolResultOutput` of the AI SDK. Parts that are neither text nor an image are named in brackets. */
export function modelOutput(output: unknown): string | ImageResult {
  const { type, value, reason } = output as { type: string; value?: unknown; reason?: string };
  if (type === 'error-text' || type === 'error-json') throw new Error(asText(value));
  if (type === 'execution-denied') throw new Error(reason ?? 'It was denied.');
  if (type !== 'content') return asText(value);
  const images: GivenImage[] = [];
  const texts: string[] = [];
  for (const part of value as readonly OutputPart[]) {
    const image = toImage(part);
    if (image !== null) images.push(image);
    else if (part.type === 'text') texts.push(asText(part.text ?? ''));
    else texts.push(`[a part of type ${part.type} that cannot be shown]`);
  }
  const text = texts.join('\n');
  return images.length === 0 ? text : { text, images };
}

function toImage({ type, data, mediaType = 'image' }: OutputPart): GivenImage | null {
  if (!DATA_PARTS.has(type) || typeof mediaType !== 'string' || !MAY_BE_IMAGE.test(mediaType)) return null;
  const bytes = toBytes(isTagged(data) ? data.data : data);
  return bytes === null || bytes.length === 0 ? null : { mediaType, sizeBytes: bytes.length, bytes };
}

/** Version 7 writes `{type: 'data', data}`, and other types for URLs and references. */
const isTagged = (data: unknown): data is { readonly data: unknown } =>
  typeof data === 'object' && data !== null && 'type' in data && data.type === 'data' && 'data' in data;

function toBytes(data: unknown): Uint8Array | null {
  if (typeof data === 'string') return Buffer.from(data, 'base64');
  if (data instanceof Uint8Array) return data;
  return data instanceof ArrayBuffer ? new Uint8Array(data) : null;
}
