import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Rig, s3Client, s3Settings, sharedS3 } from '@runwire/test-kit';
import { expectEqual, until } from '@runwire/test-kit/shortfall.ts';
import { askStore } from './ask-store.ts';
import { blobsIn } from './attachment-rig.ts';

/* What proofs about files compare: the rows, the blobs, and the integration's sum. */

export const INTEGRATION = 'atomic';
/** The sweeps begin with the server, and treat everything without a row as old. */
export const SWEEP_NOW = { unusedBlobMs: 0, sweepMs: 200 };

export type FilePlace = 'disk' | 's3';

/** The settings of a server that keeps its files there. */
export async function filesIn(place: FilePlace, uploads: 'direct' | 'through'): Promise<Record<string, string>> {
  return place === 'disk' ? {} : await s3Settings(await sharedS3(), { S3_UPLOADS: uploads });
}

export const getDrafts = ({ dataDir }: Rig, bucket: string | null): string[] => {
  const folder = join(dataDir, bucket === null ? 'blobs/drafts' : 'spools');
  return readdirSync(folder).map((name) => join(folder, name));
};

/** Compares the rows with the blobs, the drafts and the integration's sum. */
export async function compare(rig: Rig, bucket: string | null, ask = (query: string) => askStore(rig.dataDir, query)) {
  const keys = bucket === null ? blobsIn(rig.dataDir) : await keysIn(bucket);
  const blobs = new Set(keys.flatMap((key) => /(?:^[0-9a-f]{2}|\/blobs)\/(.+)$/.exec(key)?.[1] ?? []));
  const rows = await ask('select blob_key, size_bytes from files where freed_at is null');
  const used = new Set(rows.map((row) => String(row.blob_key)));
  const [sum] = await ask(`select file_bytes from integrations where integration_id = '${INTEGRATION}'`);
  return {
    rowsWithoutBlob: used.difference(blobs).size,
    leftovers: blobs.difference(used).size + getDrafts(rig, bucket).length,
    sumIsRight: Number(sum?.file_bytes) === rows.reduce((bytes, row) => bytes + Number(row.size_bytes), 0),
  };
}

/** Waits for a server's sweeps, after which each file has its blob and each blob its file. */
export async function expectSwept(compareNow: () => ReturnType<typeof compare>): Promise<void> {
  await until('sweep', async () => (await compareNow()).leftovers === 0).catch(() => {});
  const { leftovers, rowsWithoutBlob, sumIsRight } = await compareNow();
  expectEqual('blobs without a row after the sweep', leftovers, 0);
  expectEqual('rows without their blob after the sweep', rowsWithoutBlob, 0);
  expectEqual('whether `file_bytes` is the sum of the sizes', sumIsRight, true);
}

export async function keysIn(bucket: string): Promise<string[]> {
  const { ListObjectsV2Command } = await import('@aws-sdk/client-s3');
  const client = await s3Client(await sharedS3());
  try {
    const { Contents: found = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    return found.map(({ Key = '' }) => Key);
  } finally {
    client.destroy();
  }
}
