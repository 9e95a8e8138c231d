import type { S3Bucket } from '../../storage/s3/s3-bucket.ts';
import type { S3Location } from '../../storage/s3/s3-errors.ts';
import type { UploadTarget } from '../upload-target.ts';
import { dropKey } from './drops.ts';

/** Forms that are sent to S3 itself. The keys of their objects begin with `prefix`, which ends with `/`. */
export function s3UploadTarget(bucket: S3Bucket, prefix: string): UploadTarget {
  const { location } = bucket;
  return {
    isS3: true,
    url: () => bucketUrl(location),
    bucket: () => location.bucket,
    key: (integrationId, _path, formId) => dropKey(prefix, integrationId, formId),
    signingKey: async () => ({ ...(await bucket.credentials()), region: location.region }),
  };
}

function bucketUrl({ bucket, endpoint, region }: S3Location): string {
  if (endpoint !== null) return `${endpoint}/${bucket}`;
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  // The certificate covers one name before the host.
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}
