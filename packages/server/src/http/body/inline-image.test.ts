import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { makePng, SAMPLE_IMAGES } from '@runwire/test-kit/sample-images.ts';
import fc from 'fast-check';
import { decodeInlineImage } from './inline-image.ts';
import { takeOutImages } from './take-out-images.ts';

const MAX = 1000;
const png = SAMPLE_IMAGES['image/png'];

function problem(url: string, max = MAX): string {
  const found = decodeInlineImage(url, max);
  assert.ok('problem' in found, url.slice(0, 100));
  return found.problem;
}

test('detects the image type from the bytes, not from the URL', () => {
  for (const [mediaType, base64] of Object.entries(SAMPLE_IMAGES)) {
    const bytes = Buffer.from(base64, 'base64');
    for (const header of [
      `data:${mediaType};base64,`,
      'data:image/png;base64,',
      'DATA:IMAGE/JPG;BASE64,',
      'data:image/x-own;name=a.png;charset=utf-8;base64,',
    ]) {
      const found = decodeInlineImage(header + base64, MAX);
      assert.ok('bytes' in found, header);
      assert.deepEqual([found.mediaType, found.sha256], [mediaType, hash('sha256', bytes)]);
      assert.ok(bytes.equals(found.bytes));
    }
  }
});

test('refuses a URL without an image type or without base64', () => {
  for (const url of [
    'data:',
    'data:,',
    `data:;base64,${png}`,
    `data:text/plain;base64,${png}`,
    `data:application/octet-stream;base64,${png}`,
    `data:image/;base64,${png}`,
    `data:image/png,${png}`,
    `data:image/png;base64`,
    `data:image/png;base64;x=1,${png}`,
    ` data:image/png;base64,${png}`,
    `data:image/png;${'a=b;'.repeat(100)}base64,${png}`,
  ]) {
    assert.match(problem(url), /must begin like `data:image\/png;base64,`/, url);
  }
});

test('accepts only canonical base64: no other character, padding or bit', () => {
  for (const bad of [
    png.slice(0, -1),
    png.slice(0, -2),
    `${png}=`,
    `${png}AA`,
    png.replace('+', '-'),
    SAMPLE_IMAGES['image/jpeg'].replace('/', '_'),
    `${png.slice(0, 8)}\n${png.slice(8)}`,
    `${png.slice(0, 8)} ${png.slice(8)}`,
    ` ${png}`,
    `${png} `,
    `${png.slice(0, 8)}%2B${png.slice(8)}`,
    `${png.slice(0, 8)}é${png.slice(8)}`,
    `${png.slice(0, 8)}====${png.slice(8)}`,
  ]) {
    assert.match(problem(`data:image/png;base64,${bad}`), /^is not valid base64/, bad);
  }
  const texts = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.concat([makePng(8), bytes]).toString('base64')),
    fc
      .array(fc.constantFrom(...'iVBORw0KGgo='.split(''), 'A', '/', '+', '\n', '-'), { maxLength: 12 })
      .map((tail) => `iVBORw0KGgo${tail.join('')}`),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const found = decodeInlineImage(`data:image/png;base64,${text}`, MAX);
      const bytes = Buffer.from(text, 'base64');
      const isStrict = bytes.toString('base64') === text;
      assert.equal('problem' in found && /base64/.test(found.problem), !isStrict, text);
      if ('bytes' in found) assert.ok(bytes.equals(found.bytes));
    }),
    { numRuns: 3000 },
  );
});

test('refuses bytes that are not a PNG, JPEG, GIF or WebP image', () => {
  for (const bytes of [
    '',
    'hello',
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'BM\0\0',
    'RIFF\0\0\0\0WAVE',
    'GIF88a',
    '\x89PNG',
  ]) {
    const url = `data:image/png;base64,${Buffer.from(bytes, 'latin1').toString('base64')}`;
    assert.equal(problem(url), 'is not a PNG, JPEG, GIF or WebP image, judged by its content');
  }
});

test('accepts the maximum size and refuses one byte more, at each padding length', () => {
  for (const max of [100, 101, 102]) {
    const url = (size: number) => `data:image/png;base64,${makePng(size).toString('base64')}`;
    assert.ok('bytes' in decodeInlineImage(url(max), max));
    for (const more of [1, 2, 3, 1000]) {
      assert.equal(problem(url(max + more), max), `must decode to at most ${max} bytes`);
    }
  }
});

test('replaces only data URLs in their fields; equal URLs get equal placeholders', () => {
  const imageFields = { list: 'attachments', outer: 'history', image: 'image_url', never: 'file_url', maxBytes: MAX };
  const url = `data:image/png;base64,${png}`;
  const body = {
    message: url,
    attachments: [
      { type: 'input_image', image_url: url },
      { type: 'input_image', image_url: url },
      { type: 'input_image', image_url: `DATA:image/png;base64,${png}` },
      { type: 'input_image', image_url: 'https://example.com/a.png' },
      { type: 'input_file', file_url: url, filename: url },
      'data:image/png;base64,',
      null,
      { image_url: 5 },
    ],
    user_context: { attachments: [{ image_url: url }] },
  };
  const before = structuredClone(body);
  const taken = takeOutImages(body, imageFields);
  const attachments = body.attachments as unknown as Record<string, string>[];
  assert.deepEqual(
    [body.message, body.user_context, body.attachments.slice(5), attachments[3], attachments[4]?.filename],
    [before.message, before.user_context, before.attachments.slice(5), before.attachments[3], url],
  );
  const standIn = attachments[0]?.image_url ?? '';
  assert.match(standIn, /^data:,[0-9a-f]{64}$/);
  assert.equal(attachments[1]?.image_url, standIn);
  assert.notEqual(attachments[2]?.image_url, standIn);
  assert.equal(attachments[4]?.file_url, standIn);
  assert.equal(taken.length, 2);
  assert.ok(taken.every(([, image]) => 'bytes' in image));
  // A caller that sends a placeholder's text has sent another data URL.
  const forged = { attachments: [{ image_url: standIn }] };
  const [[other, image] = []] = takeOutImages(forged, imageFields);
  assert.ok(other !== standIn && image !== undefined && 'problem' in image);
  for (const odd of [null, 5, [], { attachments: 5 }, { attachments: null }, {}])
    assert.deepEqual(takeOutImages(odd, imageFields), []);
});
