import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GivenImage, MAX_IMAGE_BYTES, withinLimits } from './tool-image.ts';

const image = (sizeBytes: number): GivenImage => ({ mediaType: 'image/png', sizeBytes, bytes: new Uint8Array() });
const MIB = 1024 * 1024;
const WHY = ': a result shows at most 8 images of 20 MiB together';

test('shows images up to 20 MiB, and names what does not fit', () => {
  const large = image(15 * MIB);
  const small = image(5 * MIB);
  const { text, images } = withinLimits({ text: 'All:', images: [large, image(6 * MIB), small, image(1)] });
  assert.deepEqual(images, [large, small]);
  assert.equal(text, `All:\n[image, image/png, ${6 * MIB} bytes${WHY}]\n[image, image/png, 1 bytes${WHY}]`);
});

test('shows eight images, and one of exactly 20 MiB', () => {
  const nine = Array.from({ length: 9 }, (_, index) => image(index));
  assert.deepEqual(withinLimits({ text: '', images: nine }), {
    text: `[image, image/png, 8 bytes${WHY}]`,
    images: nine.slice(0, 8),
  });
  assert.equal(withinLimits({ text: '', images: [image(MAX_IMAGE_BYTES)] }).images.length, 1);
});
