import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { missingService } from '../../../../../test/support/services.ts';
import { blobStoreConformance } from '../../testing/blob-store-conformance.ts';
import { makeBucket, sharedS3, stopOwnS3, useS3Credentials } from '../../testing/s3-gateway.ts';
import { S3BlobStore } from './s3-blob-store.ts';
import { S3Bucket } from './s3-bucket.ts';

const skip = (await missingService('s3')) ?? false;
after(stopOwnS3);

async function open() {
  const access = await sharedS3();
  useS3Credentials(access);
  const bucket = await S3Bucket.of({
    bucket: await makeBucket(access),
    endpoint: access.endpoint,
    region: access.region,
  });
  return bucket;
}

if (skip === false) {
  blobStoreConformance('s3', async () => {
    const bucket = await open();
    return { open: async () => new S3BlobStore(bucket, 'mark/blobs/'), cleanUp: async () => bucket[Symbol.dispose]() };
  });
}

test('a name that is no key of a blob is never asked for', { skip }, async () => {
  using bucket = await open();
  const blobs = new S3BlobStore(bucket, 'mark/blobs/');
  await assert.rejects(blobs.read('../secret'), /is no key of a blob/);
});
