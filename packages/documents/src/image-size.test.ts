import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAMPLE_IMAGES } from '@runwire/test-kit/sample-images.ts';
import { imageSize } from './image-size.ts';

const sample = (type: keyof typeof SAMPLE_IMAGES) => Buffer.from(SAMPLE_IMAGES[type], 'base64');
const SIZE = { width: 640, height: 480 };

function png({ width, height } = SIZE): Buffer {
  const bytes = Buffer.from(sample('image/png'));
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

const webp = (chunk: string, data: Buffer) =>
  Buffer.concat([Buffer.from('RIFF\x40\0\0\0WEBP'), Buffer.from(chunk), Buffer.alloc(4), data]);

/** A JPEG with metadata of this size before its frame. */
function jpeg(metadataBytes: number, frameMarker = 0xc2): Buffer {
  const metadata = Buffer.alloc(metadataBytes + 4);
  metadata.writeUInt16BE(0xffe1, 0);
  metadata.writeUInt16BE(metadataBytes + 2, 2);
  const tables = Buffer.from([0xff, 0xc4, 0, 3, 0]);
  const frame = Buffer.from([
    0xff,
    0xff,
    frameMarker,
    0,
    11,
    8,
    480 >> 8,
    480 & 255,
    640 >> 8,
    640 & 255,
    1,
    1,
    0x11,
    0,
  ]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), metadata, tables, frame]);
}

test('reads the size of each kind of image from its first bytes', () => {
  assert.deepEqual(imageSize(png()), SIZE);
  assert.deepEqual(imageSize(sample('image/png')), { width: 1, height: 1 });
  assert.deepEqual(imageSize(sample('image/gif')), { width: 1, height: 1 });
  assert.deepEqual(imageSize(sample('image/webp')), { width: 1, height: 1 });
  assert.deepEqual(imageSize(jpeg(30_000)), SIZE);
  assert.deepEqual(imageSize(jpeg(0, 0xc0)), SIZE);
});

test('reads the size of lossless and extended WebP images', () => {
  const lossless = Buffer.alloc(9);
  lossless[0] = 0x2f;
  lossless.writeUInt32LE((SIZE.width - 1) | ((SIZE.height - 1) << 14), 1);
  assert.deepEqual(imageSize(webp('VP8L', lossless)), SIZE);
  const extended = Buffer.alloc(10);
  extended.writeUIntLE(SIZE.width - 1, 4, 3);
  extended.writeUIntLE(SIZE.height - 1, 7, 3);
  assert.deepEqual(imageSize(webp('VP8X', extended)), SIZE);
});

test('returns null if the bytes do not contain the size', () => {
  assert.equal(imageSize(sample('image/jpeg')), null);
  assert.equal(imageSize(jpeg(60_000).subarray(0, 50_000)), null);
  assert.equal(imageSize(png({ width: 0, height: 1 })), null);
  assert.equal(imageSize(Buffer.from('no image')), null);
  for (const whole of [png(), sample('image/gif'), sample('image/webp'), jpeg(10)]) {
    for (let end = 0; end < whole.length; end += 1) imageSize(whole.subarray(0, end));
  }
});
