import { rmSync } from 'node:fs';
import { SpoolFolder } from '../files/disk/spool-folder.ts';
import { S3Bucket, type S3Times } from '../files/s3/s3-bucket.ts';
import { S3MountStore } from '../files/s3/s3-mount-store.ts';
import { makeBucket, sharedS3, useS3Credentials } from './s3-gateway.ts';
import { temporaryFolder } from './test-server.ts';

/** An empty bucket of the shared gateway, asked with the credentials of the environment; `endpoint`: by another way. */
export async function testBucket(
  options: { readonly endpoint?: string; readonly times?: S3Times } = {},
): Promise<S3Bucket> {
  const access = await sharedS3();
  useS3Credentials(access);
  const { endpoint = access.endpoint, times } = options;
  return S3Bucket.of({ bucket: await makeBucket(access), endpoint, region: access.region }, times);
}

export interface TestS3Mount extends Disposable {
  readonly bucket: S3Bucket;
  /** On the same bucket each time. */
  open(): Promise<S3MountStore>;
  /** Where uploads are kept on their way. */
  readonly folder: string;
}

export async function testS3Mount(options: Parameters<typeof testBucket>[0] = {}): Promise<TestS3Mount> {
  const bucket = await testBucket(options);
  const folder = temporaryFolder();
  return {
    bucket,
    folder,
    open: async () => {
      const spools = await SpoolFolder.open(folder);
      return new S3MountStore({ bucket, prefix: 'mark/mounts/', spools, waitAt: undefined });
    },
    [Symbol.dispose]() {
      bucket[Symbol.dispose]();
      rmSync(folder, { recursive: true });
    },
  };
}
