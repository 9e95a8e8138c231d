import type { Config, Limits } from '../config/config.ts';
import { dataFolder } from '../config/data-folder.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import { claimFolder } from '../files/disk/claim-folder.ts';
import { DiskMountStore } from '../files/disk/disk-mount-store.ts';
import { checkMark, newMark, writeMark } from '../files/disk/folder-mark.ts';
import { SpoolFolder } from '../files/disk/spool-folder.ts';
import { hereTarget } from '../files/here-target.ts';
import { checkFilesKind, type KeptMark, refuseOtherKind } from '../files/installation-mark.ts';
import type { MountStore } from '../files/mount-store.ts';
import { checkBucket, claimBucket, markBucket } from '../files/s3/claim-bucket.ts';
import { S3MountStore } from '../files/s3/s3-mount-store.ts';
import { s3UploadTarget } from '../files/s3/s3-upload-target.ts';
import type { UploadTarget } from '../files/upload-target.ts';
import type { BlobStore } from '../storage/blob-store.ts';
import { DiskBlobStore } from '../storage/disk/disk-blob-store.ts';
import { S3BlobStore } from '../storage/s3/s3-blob-store.ts';
import { S3Bucket } from '../storage/s3/s3-bucket.ts';
import type { Store } from '../store/store.ts';

export interface FilePlaces {
  /** The bytes of images. */
  readonly blobs: BlobStore;
  readonly mount: MountStore;
}

export interface OpenedFiles extends FilePlaces {
  /** Where forms are sent, and with what they are signed. */
  readonly uploads: UploadTarget;
}

/**
 * Opens the place that the settings name for an installation's files, and sees to it that it is this installation's.
 * Before anything is made, taken over or swept: what this database does not know there is deleted after a day.
 */
export async function openFiles(
  config: Config,
  { store, secret }: { readonly store: Store; readonly secret: string },
  limits: Limits,
  waitAt: WaitAt | undefined,
  stack: AsyncDisposableStack,
): Promise<OpenedFiles> {
  const here = hereTarget(store, secret);
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

/** A place that commands read an installation's files from, or put them into. */
export interface MarkedPlaces extends FilePlaces, KeptMark {
  /** Says in the place itself whose files it holds. */
  putMark(): Promise<void>;
}

/** The place that the settings name, of files that this mark stands for; what it holds is let go by `stack`. */
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

/** Refuses settings that name another place than that of the files of this mark; null: of a version that had no marks. */
export async function checkFiles(config: Config, kept: KeptMark | null): Promise<void> {
  refuseOtherKind(kept ?? { mark: '', kind: 'disk' }, config.s3 === null ? 'disk' : 's3');
  if (kept === null) return;
  if (config.s3 === null) return await checkMark(dataFolder(config.dataDir).blobs, kept.mark);
  using bucket = await S3Bucket.of(config.s3, config.limits);
  await checkBucket(bucket, kept.mark);
}

async function openDiskFiles({ dataDir }: Config, waitAt: WaitAt | undefined): Promise<FilePlaces> {
  const { blobs, mounts } = dataFolder(dataDir);
  return { blobs: await DiskBlobStore.open(blobs), mount: await DiskMountStore.open({ folder: mounts, waitAt }) };
}

/** The files of the installation that this mark stands for. */
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
