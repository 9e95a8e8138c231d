import { S3Bucket, type S3Times } from '../files/s3/s3-bucket.ts';
import { makeBucket, sharedS3, useS3Credentials } from './s3-gateway.ts';

/** An empty bucket of the shared gateway, asked with the credentials of the environment; `endpoint`: by another way. */
export async function testBucket(options: { readonly endpoint?: string; readonly times?: S3Times } = {}) {
  const access = await sharedS3();
  useS3Credentials(access);
  const place = {
    bucket: await makeBucket(access),
    endpoint: options.endpoint ?? access.endpoint,
    region: access.region,
  };
  return S3Bucket.of(place, options.times);
}
