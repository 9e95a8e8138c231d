import { hash } from 'node:crypto';
import { decodeInlineFile, type InlineFile, type InlineLimits } from './inline-file.ts';
import type { ExtractedFiles } from './inline-files.ts';
import { isDataUrl, type NotDecoded } from './inline-image.ts';

type Json = Record<string, unknown>;

/** The lists of messages in the bodies of the compatible APIs, and a message's lists of parts. */
const MESSAGES = ['messages', 'message', 'input', 'items', 'chat_history'];
const PARTS = ['content', 'parts'];

/** The fields of a part that contain bytes: the object in it, the field, and true if it is base64 without `data:` too. */
const FIELDS: readonly (readonly [inner: string | null, field: string, isBase64: (parent: Json) => boolean])[] = [
  [null, 'image_url', () => false],
  ['image_url', 'url', () => false],
  [null, 'file_data', () => true],
  ['file', 'file_data', () => true],
  // The AI SDK's files.
  [null, 'url', () => false],
  // AG-UI.
  ['source', 'value', ({ type }) => type === 'data'],
];

/**
 * Replaces the inline files in the messages of a compatible API's body by short placeholders while the body is parsed, as
 * `takeOutImages` does for our own API: the request's handler and its fingerprint get no megabytes of base64.
 */
export function takeOutParts(body: unknown, limits: InlineLimits): ExtractedFiles {
  const files = new Map<string, InlineFile | NotDecoded>();
  if (!isRecord(body)) return [];
  for (const message of MESSAGES.flatMap((list) => recordsIn(body[list]))) {
    for (const part of PARTS.flatMap((list) => recordsIn(message[list]))) takeOutOfPart(part, limits, files);
  }
  return [...files];
}

function takeOutOfPart(part: Json, limits: InlineLimits, files: Map<string, InlineFile | NotDecoded>): void {
  for (const [inner, field, isBase64] of FIELDS) {
    const parent = inner === null ? part : part[inner];
    if (!isRecord(parent)) continue;
    const text = parent[field];
    if (typeof text !== 'string' || !(isDataUrl(text) || isBase64(parent))) continue;
    const standIn = `data:,${hash('sha256', text)}`;
    parent[field] = standIn;
    if (!files.has(standIn)) files.set(standIn, decodeInlineFile(text, limits));
  }
}

const recordsIn = (list: unknown): Json[] => (Array.isArray(list) ? list.filter(isRecord) : []);

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
