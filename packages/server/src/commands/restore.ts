import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import {
  commitOf,
  embeddedHere,
  markIn,
  type PostgresPlace,
  postgresPlace,
  putMark,
  putSecret,
  refuseTaken,
} from '../compose/installation-place.ts';
import { type FilePlaces, openFilesAt } from '../compose/open-files.ts';
import type { Config, Secrets } from '../config/config.ts';
import { type DataFolder, makeDataFolder } from '../config/data-folder.ts';
import { refuseMoved } from '../config/moved-mark.ts';
import { type CopiedBlobs, copyBlobs, type NamedBlob } from '../files/copy-blobs.ts';
import { CopyDamaged, copyMountIn, type MountLine, type OddFile } from '../files/copy-mount.ts';
import { newMark, readMark, removeMark, takenFolder, writeMark } from '../files/disk/folder-mark.ts';
import type { KeptMark } from '../files/installation-mark.ts';
import { writeDurably } from '../lib/durable-files.ts';
import { DiskBlobStore } from '../storage/disk/disk-blob-store.ts';
import { PostgresSnapshot } from '../store/postgres/postgres-snapshot.ts';
import { PostgresTarget } from '../store/postgres/postgres-target.ts';
import { NODE_RELEASED } from '../store/schema.ts';
import { lockDataFolder } from '../store/sqlite/data-folder-lock.ts';
import { SqliteSnapshot } from '../store/sqlite/sqlite-snapshot.ts';
import { SqliteTarget, sweepDrafts } from '../store/sqlite/sqlite-target.ts';
import { copyInstallation } from '../store/transfer/copy-installation.ts';
import { BackupRefused } from '../store/transfer/manifest.ts';
import type { Target } from '../store/transfer/ports.ts';
import { Backup } from '../store/transfer/read-backup.ts';
import type { BackedUp } from './backup.ts';

export interface Restored extends Omit<BackedUp, 'missing' | 'unread' | 'unsteady'> {
  /** Whether an earlier restore had done it, and was interrupted before it could say so. */
  readonly wasDone: boolean;
  /** The mark under which a restore that was interrupted may have left objects in the bucket; null: none. */
  readonly leftMark: string | null;
  /** Files for which there was no place, and that the back-up alone has. */
  readonly unplaced: readonly OddFile[];
  /** Whether the keys of the back-up were signed with another secret than the settings give. */
  readonly hasOtherSecret: boolean;
}

/**
 * Puts a back-up of either store into an empty place of the store that the settings name.
 *
 *   `restoring` in the folder ──▶ images, files ──▶ mark in the folder ──▶ commit, with the mark ──▶ `restoring` gone
 *
 * The mark is a new one: whoever still has the back-up's own has another folder. Interrupted anywhere, the next restore
 * finds `restoring`, and by its mark whether the commit was made. Images that are there already are not written again;
 * files are, for what an interrupted restore of another back-up left would be taken for an integration's own. In a bucket
 * each restore has a mark of its own, and what an interrupted one left lies under another that nobody reads.
 */
export async function restoreHere(config: Config, secrets: Secrets, from: string): Promise<Restored> {
  const backup = await Backup.open(from);
  const settings = postgresPlace(config, secrets);
  await using stack = new AsyncDisposableStack();
  const folder = makeDataFolder(config.dataDir);
  if (settings === null) {
    stack.use(lockDataFolder(folder.lock));
    refuseMoved(folder.movedMark);
    // With the lock in hand: nobody is writing them.
    sweepDrafts(folder.database);
  }
  const secret = await backup.secret();
  const hasOtherSecret = secret !== null && secrets.secret !== null && secret !== secrets.secret;
  const begun = await readMark(folder.blobs, 'restoring');
  if (begun !== null && (await keptIn(folder, settings))?.mark === begun) {
    await removeMark(folder.blobs, 'restoring');
    return {
      rows: 0,
      images: 0,
      files: 0,
      bytes: 0,
      hasSecret: secret !== null,
      hasOtherSecret,
      wasDone: true,
      leftMark: null,
      unplaced: [],
    };
  }
  const target = await emptyTarget(config, folder, settings, stack);
  const mark = await markFor(folder.blobs, begun, config.s3 !== null);
  if (begun !== null && begun !== mark) await removeMark(folder.blobs, 'restoring');
  if (begun !== null) await rm(folder.mounts, { recursive: true, force: true });
  await DiskBlobStore.open(folder.blobs);
  await writeMark(folder.blobs, mark, 'restoring');
  const place = await openFilesAt(config, mark, stack);
  // A bucket that cannot be used is known before anything is copied.
  if (place.kind === 's3') await place.putMark();
  const copied = copyBlobs(inUse(backup.blobKeys()), await DiskBlobStore.open(backup.blobs), place.blobs);
  await finished(copied);
  const [lost] = copied.missing();
  if (lost !== undefined) {
    throw new BackupRefused(
      `The back-up ${from} is damaged: the image ${lost} is not as it was written; use another back-up.`,
    );
  }
  const files = await restoreFiles(backup, place, from);
  // A run that was under way when the back-up was taken did not crash.
  const tables = await copyInstallation(backup, target, NODE_RELEASED);
  await putMark(target, place);
  if (secret !== null && settings === null) await writeDurably(folder.secretFile, `${secret}\n`);
  if (secret !== null && settings !== null) await putSecret(target, secret);
  if (place.kind === 'disk') await place.putMark();
  await commitOf(target, 'restore');
  await removeMark(folder.blobs, 'restoring');
  const listed = Object.values(backup.manifest.tables);
  return {
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    images: copied.count(),
    files: files.count,
    bytes: listed.reduce((sum, table) => sum + table.bytes, copied.bytes() + files.bytes),
    hasSecret: secret !== null,
    hasOtherSecret,
    wasDone: false,
    leftMark: begun === mark ? null : begun,
    unplaced: files.unplaced,
  };
}

async function restoreFiles(backup: Backup, { mount }: FilePlaces, from: string) {
  try {
    return await copyMountIn(backup.mountLines<MountLine>(), backup.mountBytes, mount);
  } catch (error) {
    if (!(error instanceof CopyDamaged)) throw error;
    throw new BackupRefused(
      `The back-up ${from} is damaged: ${error.message} is not as it was written; use another back-up.`,
    );
  }
}

async function emptyTarget(
  config: Config,
  folder: DataFolder,
  settings: PostgresPlace | null,
  stack: AsyncDisposableStack,
): Promise<Target> {
  if (settings === null) {
    const target = stack.use(new SqliteTarget(folder.database));
    await refuseTaken(target, config.dataDir, 'set RUNWIRE_DATA_DIR to an empty folder');
    return target;
  }
  const target = stack.use(await PostgresTarget.open(settings));
  await refuseTaken(target, `the database ${settings.place}`, 'set DATABASE_URL to an empty one');
  const embedded = embeddedHere(config, settings.place);
  if (embedded !== null) throw embedded;
  return target;
}

/** A new one for a folder in which there is nothing of anybody, or that of the restore that was begun there; on S3 always a new one. */
async function markFor(blobs: string, begun: string | null, isNew: boolean): Promise<string> {
  const own = await readMark(blobs);
  if (begun !== null && (own === null || own === begun)) return isNew ? newMark() : begun;
  const taken = await takenFolder(
    blobs,
    'set RUNWIRE_DATA_DIR to an empty folder, or move that one away: a back-up brings its own images and files',
  );
  if (taken !== null) throw taken;
  return newMark();
}

/** The mark that the database keeps; null: there is none, or no database. */
async function keptIn({ database }: DataFolder, settings: PostgresPlace | null): Promise<KeptMark | null> {
  if (settings === null && !existsSync(database)) return null;
  await using snapshot = settings === null ? new SqliteSnapshot(database) : await PostgresSnapshot.open(settings);
  return await markIn(snapshot);
}

async function* inUse(keys: AsyncIterable<readonly string[]>): AsyncGenerator<NamedBlob[]> {
  for await (const batch of keys) yield batch.map((key) => ({ key, inUse: true }));
}

async function finished({ keys }: CopiedBlobs): Promise<void> {
  for await (const _ of keys);
}
