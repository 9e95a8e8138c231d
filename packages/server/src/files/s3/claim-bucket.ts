import { StartRefused } from '../../domain/start-refused.ts';
import type { S3Bucket } from '../../storage/s3/s3-bucket.ts';
import { startSentence } from '../../storage/s3/s3-errors.ts';
import type { Store } from '../../store/store.ts';
import { checkFilesKind, readMarks, refuseOtherKind, storeMark } from '../installation-mark.ts';

/** Says that a bucket holds the files of this mark, so that another bucket is not taken for it. */
const markKey = (mark: string) => `${mark}/installation`;

/**
 * All servers of an installation keep their files in one bucket, under keys that begin with its mark: several
 * installations can share a bucket, and none sweeps what is another's.
 *
 *   in the bucket ──▶ kept in the database
 *
 * Of servers that first start at the same moment one has its mark kept, and the others use it. Resolves to the mark.
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
    throw startSentence(error, bucket.place);
  }
}

/** Refuses a bucket that is not this installation's. */
export async function checkBucket(bucket: S3Bucket, mark: string): Promise<void> {
  const found = await bucket.get(markKey(mark)).catch((error: unknown) => {
    throw startSentence(error, bucket.place);
  });
  if (found !== null) return;
  throw new StartRefused(
    `The bucket ${bucket.place.bucket} of S3_BUCKET is not the one in which this installation keeps its files (it has no object ${markKey(mark)}); set S3_BUCKET and S3_ENDPOINT to that one, or bring its objects back from a copy.`,
  );
}
