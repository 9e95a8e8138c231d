import { rmSync } from 'node:fs';
import { after } from 'node:test';
import { missingService } from '../../../../../test/support/services.ts';
import { mountStoreConformance } from '../../testing/mount-store-conformance.ts';
import { testBucket } from '../../testing/s3-bucket-of-test.ts';
import { stopOwnS3 } from '../../testing/s3-gateway.ts';
import { temporaryFolder } from '../../testing/test-server.ts';
import { S3MountStore } from './s3-mount-store.ts';
import { SpoolFolder } from './spool.ts';

const skip = (await missingService('s3')) ?? false;
after(stopOwnS3);

if (skip === false) {
  mountStoreConformance('s3', async () => {
    const bucket = await testBucket();
    const folder = temporaryFolder();
    const spools = await SpoolFolder.open(folder);
    return {
      open: async () => new S3MountStore({ bucket, prefix: 'mark/mounts/', spools, waitAt: undefined }),
      cleanUp: async () => {
        bucket[Symbol.dispose]();
        rmSync(folder, { recursive: true });
      },
    };
  });
}
