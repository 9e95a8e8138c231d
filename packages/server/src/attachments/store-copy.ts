import type { FileContent } from '@runwire/documents';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import { RunLost } from '../domain/run/run-lost.ts';
import { BlobGone, claimBlobs } from '../files/pending-blobs.ts';
import { type BlobKey, newBlobKey } from '../storage/blob-store.ts';
import { attachmentFetched, freeBlob } from '../store/queries/attachments.ts';
import { holdRun } from '../store/queries/runs.ts';
import { repeatOnConflict, type Tx, UniqueViolation } from '../store/store.ts';
import { type BlobWriter, getSha256, referToBlob, type StoredBlob, type StoredBlobs } from './attachment-blobs.ts';
import type { AttachmentDeps, AttachmentRun } from './attachment-tools.ts';
import type { ScratchBlobs } from './scratch-blobs.ts';

type CopyDeps = Pick<AttachmentDeps, 'attachments' | 'store'>;

/** Another request has inserted a blob with the same bytes, or a sweep has deleted the blob: the bytes are stored again. */
const isConflict = (error: unknown) => error instanceof UniqueViolation || error instanceof BlobGone;

/**
 * Stores a copy of what is sent for these attachments, and records it in their rows. The bytes are durable before the
 * transaction that refers to them. Resolves to the copy's key.
 */
export async function storeCopy(
  { attachments, store }: CopyDeps,
  run: AttachmentRun,
  rows: readonly StoredAttachment[],
  content: FileContent,
  signal: AbortSignal,
): Promise<BlobKey> {
  return storeBlob({ attachments, store }, run, content.bytes, signal, (tx, blob) =>
    recordContent(tx, run, rows, content, blob),
  );
}

/** The bytes of a copy, and the batch in which they are pending. */
export type CopiedBlob = StoredBlob & Pick<StoredBlobs, 'batch'>;

/** Stores bytes, and records them in one transaction: `record` refers to the blob. Resolves to its key. */
export async function storeBlob(
  { attachments, store }: CopyDeps,
  run: AttachmentRun,
  bytes: Uint8Array,
  signal: AbortSignal,
  record: (tx: Tx, blob: CopiedBlob) => Promise<void>,
): Promise<BlobKey> {
  const sha256 = await getSha256(bytes);
  const storeOnce = async () => {
    signal.throwIfAborted();
    const storing = attachments.blobs.store(blobWriter(run), [{ sha256, bytes }]);
    let stored: StoredBlobs;
    try {
      stored = await unlessAborted(signal, storing);
    } catch (error) {
      // A run that stops does not wait for its put: the copy is deleted after the put has ended.
      void storing.then(
        (blobs) => attachments.blobs.abandon(blobs),
        () => {},
      );
      throw error;
    }
    const blob = stored.byHash.get(sha256);
    if (blob === undefined) throw new Error('The bytes were not stored.');
    try {
      await store.transact('attachment', (tx) => record(tx, { ...blob, batch: stored.batch }));
    } catch (error) {
      await attachments.blobs.abandon(stored, error);
      throw error;
    }
    return blob.blobKey;
  };
  return run.retry(() => repeatOnConflict(storeOnce, isConflict));
}

/** An erasure waits for the end of the run, so a run that holds its row may begin to write. */
const blobWriter = ({ integrationId, consumerId, runId, attempt }: AttachmentRun): BlobWriter => ({
  integrationId,
  consumerId,
  check: async (tx) => {
    if ((await tx.run(holdRun, { runId, attempt })) !== 1) throw RunLost.ofAttempt(runId, attempt);
  },
});

/** Stores the bytes for this run only, under a key that only `scratch` knows. */
export async function storeScratch(
  run: AttachmentRun,
  scratch: ScratchBlobs,
  { bytes }: FileContent,
  signal: AbortSignal,
): Promise<BlobKey> {
  const sha256 = await getSha256(bytes);
  return run.retry(async () => {
    signal.throwIfAborted();
    // A new key for each try: the bytes of a failed try may be deleted later.
    const blobKey = newBlobKey(sha256);
    await unlessAborted(signal, scratch.put(blobWriter(run), blobKey, bytes));
    return blobKey;
  });
}

/** Records that these attachments were fetched and that no copy exists. */
export async function recordWithoutCopy(
  { store }: CopyDeps,
  run: AttachmentRun,
  rows: readonly StoredAttachment[],
  content: FileContent,
  signal: AbortSignal,
): Promise<void> {
  await run.retry(() => {
    signal.throwIfAborted();
    return store.transact('attachment', (tx) => recordContent(tx, run, rows, content, null));
  });
}

async function recordContent(
  tx: Tx,
  run: AttachmentRun,
  rows: readonly StoredAttachment[],
  { form, mediaType, pages, bytes }: FileContent,
  blob: CopiedBlob | null,
): Promise<void> {
  const { chatKey } = run;
  const now = Date.now();
  await holdAndRefer(tx, run, blob, now);
  const blobKey = blob?.blobKey ?? null;
  const columns = { form, media_type: mediaType, pages, size_bytes: bytes.length, blob_key: blobKey };
  for (const row of rows) {
    await tx.run(attachmentFetched, { chat_key: chatKey, run_id: row.run_id, position: row.position, ...columns });
    if (row.blob_key !== null && row.blob_key !== blobKey) await tx.run(freeBlob, { blobKey: row.blob_key, now });
  }
}

/** Begins a transaction of a run that still owns its row, and that refers to the blob. */
export async function holdAndRefer(
  tx: Tx,
  { runId, attempt, integrationId }: AttachmentRun,
  blob: CopiedBlob | null,
  now: number,
): Promise<void> {
  if ((await tx.run(holdRun, { runId, attempt })) !== 1) throw RunLost.ofAttempt(runId, attempt);
  if (blob === null) return;
  if (blob.batch !== null) await claimBlobs(tx, blob.batch);
  await referToBlob(tx, { integrationId, now }, blob);
}
