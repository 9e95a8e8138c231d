import type { ResultPart, ToolResult } from './tool-result.ts';

/** Converts a result to the text for the model. Images and sounds are named in brackets. */
export function resultText({ content = [], structuredContent }: ToolResult): string {
  const parts = content.map(partText);
  const hasText = content.some((part) => part.type === 'text' || (part.type === 'resource' && 'text' in part.resource));
  if (!hasText && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  return parts.join('\n');
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
