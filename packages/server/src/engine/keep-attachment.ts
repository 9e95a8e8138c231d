import { BlobGone, type KeptBlob, referToBlob } from '../attachments/attachment-blobs.ts';
import type { Attachment } from '../domain/attachment.ts';
import { unlessAborted } from '../lib/unless-aborted.ts';
import { RunLost } from '../runs/run-lost.ts';
import { type BlobKey, newBlobKey } from '../storage/blob-store.ts';
import { attachmentFetched, freeBlob } from '../store/queries/attachments.ts';
import { holdRun } from '../store/queries/runs.ts';
import { repeatOnConflict, type Tx, UniqueViolation } from '../store/store.ts';
import type { Aside } from './aside.ts';
import type { AttachmentTools, SentFile } from './attachment-tools.ts';
import type { EngineDeps } from './deps.ts';
import type { AdmittedRun } from './port.ts';
import type { StopHandle } from './stop-handle.ts';
import { storeSurely } from './store-surely.ts';

export interface KeepDeps extends Pick<EngineDeps, 'store' | 'retryMs'> {
  readonly attachments: Pick<AttachmentTools, 'blobs'>;
}

type KeepingRun = Pick<AdmittedRun, 'runId' | 'attempt' | 'integrationId' | 'chatKey'>;

/** Another has made the same bytes known, or a sweep took them: they are kept again. */
const isConflict = (error: unknown) => error instanceof UniqueViolation || error instanceof BlobGone;

/**
 * Keeps what is sent of these attachments, and records that they were fetched: the bytes are durable before the
 * transaction that refers to them, as for every message. Resolves to the name of the copy.
 */
export function keepCopy(
  deps: KeepDeps,
  run: KeepingRun,
  rows: readonly Attachment[],
  file: SentFile,
  stop: StopHandle,
  signal: AbortSignal,
): Promise<BlobKey> {
  const keep = async () => {
    signal.throwIfAborted();
    const [blob] = await unlessAborted(signal, deps.attachments.blobs.keep(run.integrationId, [file]));
    if (blob === undefined) throw new Error('Its bytes were not kept.');
    await deps.store.transact('attachment', (tx) => record(tx, run, rows, file, blob));
    return blob.blobKey;
  };
  return storeSurely(deps, stop, () => repeatOnConflict(keep, isConflict));
}

/** The bytes are there for this run alone, under a name that only `aside` knows. */
export async function putAside(
  deps: Pick<KeepDeps, 'retryMs'>,
  file: SentFile,
  aside: Aside,
  stop: StopHandle,
  signal: AbortSignal,
): Promise<BlobKey> {
  const blobKey = newBlobKey(file.sha256);
  await storeSurely(deps, stop, () => {
    signal.throwIfAborted();
    return unlessAborted(signal, aside.put(blobKey, file.bytes));
  });
  return blobKey;
}

/** Records that they were fetched, and that there is no copy. */
export async function recordWithoutCopy(
  deps: KeepDeps,
  run: KeepingRun,
  rows: readonly Attachment[],
  file: SentFile,
  stop: StopHandle,
  signal: AbortSignal,
): Promise<void> {
  await storeSurely(deps, stop, () => {
    signal.throwIfAborted();
    return deps.store.transact('attachment', (tx) => record(tx, run, rows, file, null));
  });
}

async function record(
  tx: Tx,
  { runId, attempt, integrationId, chatKey }: KeepingRun,
  rows: readonly Attachment[],
  { form, mediaType, pages, bytes }: SentFile,
  blob: KeptBlob | null,
): Promise<void> {
  if ((await tx.run(holdRun, { runId, attempt })) !== 1) {
    throw new RunLost(`Run ${runId} is no longer of attempt ${attempt}.`);
  }
  const now = Date.now();
  if (blob !== null) await referToBlob(tx, { integrationId, now }, blob);
  const blobKey = blob?.blobKey ?? null;
  const sent = { form, mediaType, pages, sizeBytes: bytes.length, blobKey };
  for (const row of rows) {
    await tx.run(attachmentFetched, { chatKey, runId: row.runId, position: row.position, ...sent });
    if (row.blobKey !== null && row.blobKey !== blobKey) await tx.run(freeBlob, { blobKey: row.blobKey, now });
  }
}
