import type { Config } from '../config/config.ts';
import { dataFolder } from '../config/data-folder.ts';
import type { Limits } from '../config/limits.ts';
import { ErasedIds } from '../domain/account/erased-ids.ts';
import type { IntegrationId } from '../domain/ids.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import { claimFolder, refuseOldMounts } from '../files/disk/claim-folder.ts';
import { checkMark, newMark, writeMark } from '../files/disk/folder-mark.ts';
import { Files } from '../files/files.ts';
import { checkFilesKind, type InstallationMark, refuseOtherKind } from '../files/installation-mark.ts';
import { ownUploadTarget } from '../files/own-upload-target.ts';
import { PendingBlobs } from '../files/pending-blobs.ts';
import { checkBucket, claimBucket, markBucket } from '../files/s3/claim-bucket.ts';
import { Drops } from '../files/s3/drops.ts';
import { s3UploadTarget } from '../files/s3/s3-upload-target.ts';
import type { UploadTarget } from '../files/upload-target.ts';
import type { BlobStore } from '../storage/blob-store.ts';
import { DiskBlobStore } from '../storage/disk/disk-blob-store.ts';
import { S3BlobStore } from '../storage/s3/s3-blob-store.ts';
import { S3Bucket } from '../storage/s3/s3-bucket.ts';
import { SpoolFolder } from '../storage/s3/spool-folder.ts';
import { VALID_MARK_ID } from '../store/queries/blob-folder.ts';
import { integrationsWithForms } from '../store/queries/upload-forms.ts';
import type { Store } from '../store/store.ts';
import { ThisNode } from '../store/this-node.ts';
import type { Snapshot } from '../store/transfer/ports.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { type EventOutbox, uncachedOutbox } from '../webhooks/event-outbox.ts';
import type { Overrides } from './overrides.ts';

export interface OpenedFiles {
  /** The bytes of attachments and files. */
  readonly blobs: BlobStore;
  readonly files: Files;
  /** Blobs that no row refers to yet. */
  readonly pending: PendingBlobs;
  /** The address of upload forms, and what signs them. */
  readonly uploads: UploadTarget;
  /** Publishes the uploads of an integration that S3 has received. */
  readonly settleUploads: (integrationId: IntegrationId) => Promise<void>;
  /** Deletes what uploads left in S3 before `until`, too late for their forms. */
  readonly sweepDrops: (until: number) => Promise<number>;
}

/** The parts that the installation's files are built on. */
export interface FilesParts {
  readonly store: Store;
  readonly secret: string;
  readonly ids: ErasedIds;
  readonly node: ThisNode;
  readonly outbox: EventOutbox;
  readonly logger: Logger;
}

/**
 * Opens the folder or bucket that the settings name, and checks that its files belong to this installation. This must come
 * before any sweep: a sweep deletes files that this database does not know.
 */
export async function openFiles(
  config: Config,
  { store, secret, ids, node, outbox, logger }: FilesParts,
  limits: Limits,
  { waitAt, wrapBlobs = (blobs) => blobs }: Pick<Overrides, 'waitAt' | 'wrapBlobs'>,
  stack: AsyncDisposableStack,
): Promise<OpenedFiles> {
  const folder = dataFolder(config.dataDir);
  const here = ownUploadTarget(store, secret);
  if (config.s3 === null) {
    await checkFilesKind(store, 'disk');
    await refuseOldMounts(folder.mounts);
    const blobs = wrapBlobs(await DiskBlobStore.open(folder.blobs, waitAt));
    await claimFolder(store, folder.blobs);
    // This server receives the uploads and publishes each before it answers.
    const settleUploads = async () => {};
    const pending = new PendingBlobs({ store, blobs, ids, node, logger });
    const files = new Files({ store, blobs, pending, settleUploads, outbox, logger });
    return { blobs, files, pending, uploads: here, settleUploads, sweepDrops: async () => 0 };
  }
  const bucket = stack.use(await S3Bucket.of(config.s3, limits));
  const mark = await claimBucket(store, bucket, newMark());
  const s3Blobs = await openS3Blobs(config, bucket, mark, waitAt);
  const blobs = wrapBlobs(s3Blobs);
  // Also if this server receives the uploads: other servers, or this one before, may have signed forms for S3.
  const prefix = dropsPrefix(mark);
  const pending = new PendingBlobs({ store, blobs, ids, node, logger });
  const drops = new Drops({ store, bucket, blobs: s3Blobs, pending, prefix, outbox, logger });
  return {
    blobs,
    pending,
    files: new Files({ store, blobs, pending, settleUploads: drops.settle, outbox, logger }),
    uploads: config.s3.uploads === 'direct' ? s3UploadTarget(bucket, prefix) : here,
    settleUploads: drops.settle,
    sweepDrops: (until) => drops.sweep(until),
  };
}

const dropsPrefix = (mark: string) => `${mark}/drops/`;

/** Publishes all uploads that S3 has received for the installation with this mark, for a command. */
export async function settleAllUploads(config: Config, mark: string, store: Store): Promise<void> {
  if (config.s3 === null) return;
  using bucket = await S3Bucket.of(config.s3, config.limits);
  const blobs = await openS3Blobs(config, bucket, mark, undefined);
  const logger = createLogger(config.logLevel);
  // The drops belong to paths, so no id of a person is made. A server that takes the batches for those of a dead node makes
  // this command repeat its work.
  const pending = new PendingBlobs({ store, blobs, ids: new ErasedIds(''), node: new ThisNode(), logger });
  const drops = new Drops({
    store,
    bucket,
    blobs,
    pending,
    prefix: dropsPrefix(mark),
    outbox: uncachedOutbox(),
    logger,
  });
  for (const { integration_id: integrationId } of await store.reads.all(integrationsWithForms, {})) {
    await drops.settle(integrationId);
  }
}

/** An installation's files, for a command that copies them. */
export interface MarkedBlobs extends InstallationMark {
  readonly blobs: BlobStore;
  /** Writes the mark into the folder or bucket itself. */
  putMark(): Promise<void>;
}

/**
 * Opens the folder or bucket that the settings name, for the installation's files with this mark. `stack` closes
 * it.
 */
export async function openFilesAt(config: Config, mark: string, stack: AsyncDisposableStack): Promise<MarkedBlobs> {
  if (config.s3 === null) {
    const { blobs } = dataFolder(config.dataDir);
    const putMark = async () => void (await writeMark(blobs, mark));
    return { blobs: await DiskBlobStore.open(blobs), mark, kind: 'disk', putMark };
  }
  const bucket = stack.use(await S3Bucket.of(config.s3, config.limits));
  const putMark = () => markBucket(bucket, mark);
  return { blobs: await openS3Blobs(config, bucket, mark, undefined), mark, kind: 's3', putMark };
}

/**
 * Refuses settings that name another folder or bucket than the one with this mark, and files in the layout of earlier
 * versions. `kept` is null for a version without marks.
 */
export async function checkFiles(config: Config, kept: InstallationMark | null): Promise<void> {
  refuseOtherKind(kept ?? { mark: '', kind: 'disk' }, config.s3 === null ? 'disk' : 's3');
  const folder = dataFolder(config.dataDir);
  if (config.s3 === null) await refuseOldMounts(folder.mounts);
  if (kept === null) return;
  if (config.s3 === null) return await checkMark(folder.blobs, kept.mark);
  using bucket = await S3Bucket.of(config.s3, config.limits);
  await checkBucket(bucket, kept.mark);
}

/**
 * Reads the mark of the installation's files. Returns null if there is no installation, or one of a version without
 * marks.
 */
export async function readKeptMark(snapshot: Snapshot): Promise<InstallationMark | null> {
  const columns = await snapshot.columns('blob_folder');
  if (columns.length === 0) return null;
  // Without this column it is a version that stored files on disk only.
  const hasKind = columns.includes('kind');
  for await (const rows of snapshot.rows('blob_folder', hasKind ? ['id', 'mark', 'kind'] : ['id', 'mark'])) {
    for (const [id, mark, kind] of rows) {
      if (id === VALID_MARK_ID) return { mark: String(mark), kind: kind === 's3' ? 's3' : 'disk' };
    }
  }
  return null;
}

async function openS3Blobs(
  { dataDir }: Config,
  bucket: S3Bucket,
  mark: string,
  waitAt: WaitAt | undefined,
): Promise<S3BlobStore> {
  const spools = await SpoolFolder.open(dataFolder(dataDir).spools);
  return new S3BlobStore({ bucket, prefix: `${mark}/blobs/`, spools, waitAt });
}
