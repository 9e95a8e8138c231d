import { StartRefused } from '../../domain/start-refused.ts';
import type { S3Bucket } from '../../storage/s3/s3-bucket.ts';
import { startSentence } from '../../storage/s3/s3-errors.ts';
import type { Store } from '../../store/store.ts';
import { checkFilesKind, readMarks, refuseOtherKind, storeMark } from '../installation-mark.ts';

/** The object with this key shows that the bucket has this mark's files. */
const markKey = (mark: string) => `${mark}/installation`;

/**
 * All servers of an installation store their files in one bucket, under keys that begin with its mark. So several
 * installations can share a bucket, and none sweeps the objects of another. The first start makes the mark:
 *
 *   written to the bucket ──▶ stored in the database
 *
 * If servers start concurrently for the first time, one mark is stored, and all of them use it. Resolves to the mark.
 */
export async function claimBucket(store: Store, bucket: S3Bucket, newMark: string): Promise<string> {
  await checkFilesKind(store, 's3');
  let kept = (await readMarks(store)).kept;
  if (kept === undefined) {
    await markBucket(bucket, newMark);
    kept = await storeMark(store, newMark, 's3');
    refuseOtherKind(kept, 's3');
    if (kept.mark === newMark) return newMark;
    await bucket.delete(markKey(newMark));
  }
  await checkBucket(bucket, kept.mark);
  return kept.mark;
}

export async function markBucket(bucket: S3Bucket, mark: string): Promise<void> {
  const bytes = Buffer.from(`${mark}\n`);
  try {
    await bucket.put(markKey(mark), { bytes: () => bytes, length: bytes.length, contentType: 'text/plain' });
  } catch (error) {
    throw startSentence(error, bucket.location);
  }
}

/** Refuses a bucket without the mark, and files in the layout of earlier versions. */
export async function checkBucket(bucket: S3Bucket, mark: string): Promise<void> {
  const found = await bucket.get(markKey(mark)).catch((error: unknown) => {
    throw startSentence(error, bucket.location);
  });
  if (found !== null) return await refuseOldMounts(bucket, mark);
  throw new StartRefused(
    `The bucket ${bucket.location.bucket} of S3_BUCKET is not the one in which this installation keeps its files (it has no object ${markKey(mark)}); set S3_BUCKET and S3_ENDPOINT to the right bucket, or restore its objects from a copy.`,
  );
}

/** Earlier versions used the file paths as keys. This version does not read such objects. */
async function refuseOldMounts(bucket: S3Bucket, mark: string): Promise<void> {
  const prefix = `${mark}/mounts/`;
  if ((await bucket.list({ prefix, limit: 1 })).objects.length === 0) return;
  throw new StartRefused(
    `The bucket ${bucket.location.bucket} has files of an earlier version (under ${prefix}), which this version cannot read; download them with that version and upload them again, or delete them.`,
  );
}
