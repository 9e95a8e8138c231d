import type { ResultPart, ToolResult } from './tool-result.ts';

/** An image of a result. */
export interface ResultImage {
  /** As the server wrote it. */
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly bytes: Uint8Array;
}

/** Converts a result to the text for the model. Images and sounds are named in brackets. */
export function resultText({ content = [], structuredContent }: ToolResult): string {
  const parts = content.map(partText);
  const hasText = content.some((part) => part.type === 'text' || (part.type === 'resource' && 'text' in part.resource));
  if (!hasText && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  return parts.join('\n');
}

/** Converts a result to text and images for the model. */
export function resultWithImages({ content = [], structuredContent }: ToolResult): {
  readonly text: string;
  readonly images: readonly ResultImage[];
} {
  const images = content.flatMap((part) => (part.type === 'image' ? [toImage(part)] : []));
  return { text: resultText({ content: content.filter(({ type }) => type !== 'image'), structuredContent }), images };
}

function toImage({ data, mimeType }: Extract<ResultPart, { type: 'image' | 'audio' }>): ResultImage {
  const bytes = Buffer.from(data, 'base64');
  return { mediaType: mimeType, sizeBytes: bytes.length, bytes };
}

function partText(part: ResultPart): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
      return `[image, ${part.mimeType}, ${toBytes(part.data)} bytes]`;
    case 'audio':
      return `[sound, ${part.mimeType}, ${toBytes(part.data)} bytes]`;
    case 'resource': {
      const { resource } = part;
      if ('text' in resource) return `[${resource.uri}]\n${resource.text}`;
      return `[file ${resource.uri}, ${resource.mimeType ?? 'unknown type'}, ${toBytes(resource.blob)} bytes]`;
    }
    case 'resource_link':
      return `[link to ${part.name}, ${part.uri}]`;
    default:
      return '[a part of a type that cannot be shown]';
  }
}

/** The number of bytes that the base64 text represents. */
const toBytes = (base64: string) => Buffer.byteLength(base64, 'base64');
