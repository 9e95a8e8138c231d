import type { Config, Limits } from '../config/config.ts';
import { dataFolder } from '../config/data-folder.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import { claimFolder } from '../files/disk/claim-folder.ts';
import { DiskMountStore } from '../files/disk/disk-mount-store.ts';
import { checkMark, newMark, writeMark } from '../files/disk/folder-mark.ts';
import { SpoolFolder } from '../files/disk/spool-folder.ts';
import { checkFilesKind, type InstallationMark, refuseOtherKind } from '../files/installation-mark.ts';
import type { MountStore } from '../files/mount-store.ts';
import { ownUploadTarget } from '../files/own-upload-target.ts';
import { checkBucket, claimBucket, markBucket } from '../files/s3/claim-bucket.ts';
import { S3MountStore } from '../files/s3/s3-mount-store.ts';
import { s3UploadTarget } from '../files/s3/s3-upload-target.ts';
import type { UploadTarget } from '../files/upload-target.ts';
import type { BlobStore } from '../storage/blob-store.ts';
import { DiskBlobStore } from '../storage/disk/disk-blob-store.ts';
import { S3BlobStore } from '../storage/s3/s3-blob-store.ts';
import { S3Bucket } from '../storage/s3/s3-bucket.ts';
import { VALID_MARK_ID } from '../store/queries/blob-folder.ts';
import type { Store } from '../store/store.ts';
import type { Snapshot } from '../store/transfer/ports.ts';

export interface FilePlaces {
  /** The bytes of images. */
  readonly blobs: BlobStore;
  readonly mount: MountStore;
}

export interface OpenedFiles extends FilePlaces {
  /** The address of upload forms, and what signs them. */
  readonly uploads: UploadTarget;
}

/**
 * Opens the folder or bucket that the settings name, and checks that its files belong to this installation. This must come
 * before any sweep: a sweep deletes files that this database does not know.
 */
export async function openFiles(
  config: Config,
  { store, secret }: { readonly store: Store; readonly secret: string },
  limits: Limits,
  waitAt: WaitAt | undefined,
  stack: AsyncDisposableStack,
): Promise<OpenedFiles> {
  const here = ownUploadTarget(store, secret);
  if (config.s3 === null) {
    await checkFilesKind(store, 'disk');
    const places = await openDiskFiles(config, waitAt);
    await claimFolder(store, dataFolder(config.dataDir).blobs);
    return { ...places, uploads: here };
  }
  const bucket = stack.use(await S3Bucket.of(config.s3, limits));
  const mark = await claimBucket(store, bucket, newMark());
  const places = await openS3Files(config, bucket, mark, waitAt);
  return { ...places, uploads: config.s3.uploads === 'direct' ? s3UploadTarget(bucket, mountsOf(mark)) : here };
}

/** The files of an installation, for a command that copies them. */
export interface MarkedPlaces extends FilePlaces, InstallationMark {
  /** Writes the mark into the folder or bucket itself. */
  putMark(): Promise<void>;
}

/**
 * Opens the folder or bucket that the settings name, for the files of the installation with this mark. `stack` closes
 * it.
 */
export async function openFilesAt(config: Config, mark: string, stack: AsyncDisposableStack): Promise<MarkedPlaces> {
  if (config.s3 === null) {
    const { blobs } = dataFolder(config.dataDir);
    const putMark = async () => void (await writeMark(blobs, mark));
    return { ...(await openDiskFiles(config, undefined)), mark, kind: 'disk', putMark };
  }
  const bucket = stack.use(await S3Bucket.of(config.s3, config.limits));
  const putMark = () => markBucket(bucket, mark);
  return { ...(await openS3Files(config, bucket, mark, undefined)), mark, kind: 's3', putMark };
}

/**
 * Refuses settings that name another folder or bucket than the one with this mark. `kept` is null for a version
 * without marks.
 */
export async function checkFiles(config: Config, kept: InstallationMark | null): Promise<void> {
  refuseOtherKind(kept ?? { mark: '', kind: 'disk' }, config.s3 === null ? 'disk' : 's3');
  if (kept === null) return;
  if (config.s3 === null) return await checkMark(dataFolder(config.dataDir).blobs, kept.mark);
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

async function openDiskFiles({ dataDir }: Config, waitAt: WaitAt | undefined): Promise<FilePlaces> {
  const { blobs, mounts } = dataFolder(dataDir);
  return { blobs: await DiskBlobStore.open(blobs), mount: await DiskMountStore.open({ folder: mounts, waitAt }) };
}

async function openS3Files(
  { dataDir }: Config,
  bucket: S3Bucket,
  mark: string,
  waitAt: WaitAt | undefined,
): Promise<FilePlaces> {
  const spools = await SpoolFolder.open(dataFolder(dataDir).spools);
  return {
    blobs: new S3BlobStore(bucket, `${mark}/blobs/`),
    mount: new S3MountStore({ bucket, prefix: mountsOf(mark), spools, waitAt }),
  };
}

const mountsOf = (mark: string) => `${mark}/mounts/`;
