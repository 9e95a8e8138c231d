import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { DEFAULT_LIMITS } from '@runwire/server/src/config/limits.ts';
import { S3BlobStore } from '@runwire/server/src/storage/s3/s3-blob-store.ts';
import { S3Bucket, type S3Times } from '@runwire/server/src/storage/s3/s3-bucket.ts';
import { SpoolFolder } from '@runwire/server/src/storage/s3/spool-folder.ts';
import { temporaryFolder } from '@runwire/server/testing';
import { makeBucket, sharedS3, useS3Credentials } from './s3-gateway.ts';

let shared: Promise<string> | null = null;

export interface TestS3Options {
  /** In place of the gateway's own. */
  readonly endpoint?: string;
  readonly times?: S3Times;
}

/** One installation's files in a bucket, which other installations share. */
export interface TestS3Files extends Disposable {
  readonly bucket: S3Bucket;
  readonly mark: string;
  /** The folder for uploads in progress. */
  readonly spools: string;
  blobs(): S3BlobStore;
}

/** In one bucket for all tests of this process, under a mark of its own; with the environment's credentials. */
export async function testS3Files({ endpoint, times = DEFAULT_LIMITS }: TestS3Options = {}): Promise<TestS3Files> {
  const access = await sharedS3();
  useS3Credentials(access);
  shared ??= makeBucket(access);
  const place = { bucket: await shared, endpoint: endpoint ?? access.endpoint, region: access.region };
  const bucket = await S3Bucket.of(place, times);
  const spools = temporaryFolder();
  const spoolFolder = await SpoolFolder.open(spools);
  const mark = randomBytes(16).toString('hex');
  return {
    bucket,
    mark,
    spools,
    blobs: () => new S3BlobStore({ bucket, prefix: `${mark}/blobs/`, spools: spoolFolder }),
    [Symbol.dispose]() {
      bucket[Symbol.dispose]();
      rmSync(spools, { recursive: true });
    },
  };
}
