import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { missingService } from '../../../../../test/support/services.ts';
import { blobStoreConformance } from '../../testing/blob-store-conformance.ts';
import { testBucket } from '../../testing/s3-bucket-of-test.ts';
import { stopOwnS3 } from '../../testing/s3-gateway.ts';
import { S3BlobStore } from './s3-blob-store.ts';

const skip = (await missingService('s3')) ?? false;
after(stopOwnS3);

if (skip === false) {
  blobStoreConformance('s3', async () => {
    const bucket = await testBucket();
    return { open: async () => new S3BlobStore(bucket, 'mark/blobs/'), cleanUp: async () => bucket[Symbol.dispose]() };
  });
}

test('a name that is no key of a blob is never asked for', { skip }, async () => {
  using bucket = await testBucket();
  const blobs = new S3BlobStore(bucket, 'mark/blobs/');
  await assert.rejects(blobs.read('../secret'), /is no key of a blob/);
  await assert.rejects(blobs.delete('a/b'), /is no key of a blob/);
});
