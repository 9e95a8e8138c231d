import { makeBucket, s3Client, sharedS3 } from '@runwire/test-kit';

/** Where a server keeps its files, and where forms are sent. */
export const FILE_PLACES = ['disk', 's3-direct', 's3-through'] as const;
export type FilePlace = (typeof FILE_PLACES)[number];

/** The settings of a server of this place; on S3 with a bucket of its own, to which pages of any origin may post. */
export async function settingsOf(place: FilePlace): Promise<Record<string, string>> {
  if (place === 'disk') return {};
  const s3 = await sharedS3();
  const bucket = await makeBucket(s3);
  const { PutBucketCorsCommand } = await import('@aws-sdk/client-s3');
  const client = await s3Client(s3);
  try {
    const rule = { AllowedOrigins: ['*'], AllowedMethods: ['POST'], AllowedHeaders: ['*'] };
    await client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: [rule] } }));
  } finally {
    client.destroy();
  }
  return {
    S3_BUCKET: bucket,
    S3_ENDPOINT: s3.endpoint,
    S3_UPLOADS: place === 's3-direct' ? 'direct' : 'through',
    AWS_REGION: s3.region,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
}
