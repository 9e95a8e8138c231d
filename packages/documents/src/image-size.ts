import { imageType } from './image-type.ts';

/** In pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Reads a PNG's size, JPEG, GIF or WebP image from its first bytes. Returns null if they do not contain it: in a JPEG
 * it follows the metadata, which can be long.
 */
export function imageSize(start: Uint8Array): ImageSize | null {
  const bytes = Buffer.from(start.buffer, start.byteOffset, start.byteLength);
  try {
    switch (imageType(start)) {
      case 'image/png':
        return measureSize(bytes.readUInt32BE(16), bytes.readUInt32BE(20));
      case 'image/gif':
        return measureSize(bytes.readUInt16LE(6), bytes.readUInt16LE(8));
      case 'image/webp':
        return sizeOfWebp(bytes);
      case 'image/jpeg':
        return sizeOfJpeg(bytes);
      default:
        return null;
    }
  } catch (error) {
    // The bytes end before the size.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const measureSize = (width: number, height: number): ImageSize | null =>
  width === 0 || height === 0 ? null : { width, height };

function sizeOfWebp(bytes: Buffer): ImageSize | null {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return measureSize(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return measureSize(1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff));
    }
    case 'VP8X':
      return measureSize(1 + bytes.readUIntLE(24, 3), 1 + bytes.readUIntLE(27, 3));
    default:
      return null;
  }
}

const START_OF_SCAN = 0xda;
/** The markers of frames, which have the size: `SOF0` to `SOF15` without the three that are something else. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
const hasNoLength = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9);

function sizeOfJpeg(bytes: Buffer): ImageSize | null {
  for (let at = 2; bytes.readUInt8(at) === 0xff; ) {
    const marker = bytes.readUInt8(at + 1);
    if (isFrame(marker)) return measureSize(bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5));
    if (marker === START_OF_SCAN) return null;
    // Any number of 0xff may precede a marker.
    if (marker === 0xff) at += 1;
    else at += 2 + (hasNoLength(marker) ? 0 : bytes.readUInt16BE(at + 2));
  }
  return null;
}
