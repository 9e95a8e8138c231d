/** The smallest images of each accepted kind. */
export const SAMPLE_IMAGES = {
  'image/png': 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'image/jpeg': '/9j/4AAQSkZJRgABAQAAAQABAAD/2Q==',
  'image/gif': 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  'image/webp': 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA',
} as const;

/** A PNG by its first bytes, of any size and content. */
export function makePng(sizeBytes: number, fill = 0): Buffer {
  const bytes = Buffer.alloc(sizeBytes, fill);
  Buffer.from('89504e470d0a1a0a', 'hex').copy(bytes);
  return bytes;
}

/** Like `makePng`, with one pixel by its header. A tool's image may not have too many. */
export function makeOnePixelPng(sizeBytes: number, fill = 0): Buffer {
  const bytes = makePng(sizeBytes, fill);
  bytes.writeUInt32BE(1, 16);
  bytes.writeUInt32BE(1, 20);
  return bytes;
}

export function imageAttachment(bytes: Buffer, more: Readonly<Record<string, unknown>> = {}) {
  return { type: 'input_image', image_url: `data:image/png;base64,${bytes.toString('base64')}`, ...more };
}
