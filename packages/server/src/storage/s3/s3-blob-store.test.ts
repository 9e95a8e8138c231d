import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { blobStoreConformance } from '@runwire/test-kit/blob-store-conformance.ts';
import { testS3Files } from '@runwire/test-kit/s3-files.ts';
import { stopOwnS3 } from '@runwire/test-kit/s3-gateway.ts';
import { missingService } from '../../../../../test/support/services.ts';

const skip = (await missingService('s3')) ?? false;
after(stopOwnS3);

if (skip === false) {
  blobStoreConformance('s3', async () => {
    const files = await testS3Files();
    return { open: async () => files.blobs(), cleanUp: async () => files[Symbol.dispose]() };
  });
}

test('sends no request for an invalid key', { skip }, async () => {
  using files = await testS3Files();
  const blobs = files.blobs();
  await assert.rejects(blobs.read('../secret'), /is not the key of a blob/);
  await assert.rejects(blobs.delete('a/b'), /is not the key of a blob/);
});
