import { existsSync } from 'node:fs';
import { writeDurably } from '@runwire/lib/durable-files.ts';
import { openFilesAt, readKeptMark } from '../compose/open-files.ts';
import { unmigratedInstallation } from '../compose/open-store.ts';
import type { Config, Secrets } from '../config/config.ts';
import { type DataFolder, makeDataFolder } from '../config/data-folder.ts';
import { refuseMoved } from '../config/moved-mark.ts';
import { type Environment, prepareProcess } from '../config/read-config.ts';
import { type CopiedBlobs, copyBlobs, type NamedBlob } from '../files/copy-blobs.ts';
import { newMark, readMark, removeMark, takenFolder, writeMark } from '../files/disk/folder-mark.ts';
import type { InstallationMark } from '../files/installation-mark.ts';
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
import type { CommandOutcome } from './command-outcome.ts';
import {
  commitCopy,
  insertMark,
  insertSecret,
  type PostgresSettings,
  postgresSettings,
  refuseUsed,
} from './installation.ts';

interface RestoreResult {
  readonly rows: number;
  /** Attachments and files. */
  readonly blobs: number;
  readonly bytes: number;
  readonly hasSecret: boolean;
  /** True if an earlier restore had copied everything and was interrupted before it could report that. */
  readonly wasDone: boolean;
  /** The mark under which an interrupted restore may have left objects in the bucket; null if there are none. */
  readonly leftMark: string | null;
  /** True if the backup's keys were signed with another secret than RUNWIRE_SECRET. */
  readonly hasOtherSecret: boolean;
}

/** Restores a backup into the empty data folder or database that the environment names. */
export async function restore(env: Environment, from: string): Promise<CommandOutcome> {
  const { config, secrets } = prepareProcess(env);
  const result = await restoreBackup(config, secrets, from);
  const { rows, blobs, bytes, hasSecret, hasOtherSecret, wasDone, leftMark } = result;
  const target = config.database === null ? config.dataDir : `PostgreSQL at ${config.database.location}`;
  const lines = [
    wasDone
      ? `An earlier restore had copied everything to ${target}; it is finished now. To restore another backup, use an empty target.`
      : `Restored ${rows} rows and ${blobs} attachments and files, ${bytes} bytes, to ${target}.`,
  ];
  if (config.s3 !== null) lines.push(`The attachments and files are in the bucket ${config.s3.bucket}.`);
  else if (config.database !== null) {
    lines.push(`The attachments and files are in ${config.dataDir}, which all servers must share.`);
  }
  if (leftMark !== null) {
    lines.push(
      `An interrupted restore may have left objects in the bucket under ${leftMark}/: delete them, unless a database has that mark in its table blob_folder.`,
    );
  }
  if (!hasSecret)
    lines.push('The backup has no secret: set RUNWIRE_SECRET to the value that it had when the backup was taken.');
  if (hasOtherSecret) {
    lines.push(
      'RUNWIRE_SECRET is not the secret of the backup: no key of the backup is valid while it is set. Unset it to use those keys.',
    );
  }
  return { text: lines.join('\n'), isWhole: true };
}

/**
 * Restores a backup of either store into an empty installation of the store that the settings name.
 *
 *   `restoring` in the folder ──▶ blobs ──▶ mark in the folder ──▶ commit, with the mark ──▶ delete `restoring`
 *
 * The mark is new, so a folder with the mark of the backed-up installation is never mistaken for this one. If a restore
 * is interrupted, the next one finds `restoring`, and its mark tells if the commit happened. Blobs are written again. In a
 * bucket each restore has its own mark: objects of an interrupted restore have another mark, and no server reads them.
 */
async function restoreBackup(config: Config, secrets: Secrets, from: string): Promise<RestoreResult> {
  const backup = await Backup.open(from);
  const settings = postgresSettings(config, secrets);
  await using stack = new AsyncDisposableStack();
  const folder = makeDataFolder(config.dataDir);
  if (settings === null) {
    stack.use(lockDataFolder(folder.lock));
    refuseMoved(folder.movedMark);
    // This process holds the lock, so no other process writes these drafts.
    sweepDrafts(folder.database);
  }
  const secret = await backup.secret();
  const hasOtherSecret = secret !== null && secrets.secret !== null && secret !== secrets.secret;
  const begun = await readMark(folder.blobs, 'restoring');
  if (begun !== null && (await markInDatabase(folder, settings))?.mark === begun) {
    await removeMark(folder.blobs, 'restoring');
    return {
      rows: 0,
      blobs: 0,
      bytes: 0,
      hasSecret: secret !== null,
      hasOtherSecret,
      wasDone: true,
      leftMark: null,
    };
  }
  const target = await emptyTarget(config, folder, settings, stack);
  const mark = await markFor(folder.blobs, begun, config.s3 !== null);
  if (begun !== null && begun !== mark) await removeMark(folder.blobs, 'restoring');
  await DiskBlobStore.open(folder.blobs);
  await writeMark(folder.blobs, mark, 'restoring');
  const location = await openFilesAt(config, mark, stack);
  // Reports a bucket that cannot be used before anything is copied.
  if (location.kind === 's3') await location.putMark();
  const copied = copyBlobs(getBlobs(backup), await DiskBlobStore.open(backup.blobs), location.blobs);
  await finished(copied);
  const [lost] = copied.missing();
  if (lost !== undefined) {
    throw new BackupRefused(
      `The backup ${from} is damaged: the file blobs/${lost} is missing or was changed; use another backup.`,
    );
  }
  // Runs that were in progress when the backup was taken did not crash.
  const tables = await copyInstallation(backup, target, NODE_RELEASED, Date.now());
  await insertMark(target, location);
  if (secret !== null && settings === null) await writeDurably(folder.secretFile, `${secret}\n`);
  if (secret !== null && settings !== null) await insertSecret(target, secret);
  if (location.kind === 'disk') await location.putMark();
  await commitCopy(target, 'restore');
  await removeMark(folder.blobs, 'restoring');
  const listed = Object.values(backup.manifest.tables);
  return {
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    blobs: copied.count(),
    bytes: listed.reduce((sum, table) => sum + table.bytes, copied.bytes()),
    hasSecret: secret !== null,
    hasOtherSecret,
    wasDone: false,
    leftMark: begun === mark ? null : begun,
  };
}

async function emptyTarget(
  config: Config,
  folder: DataFolder,
  settings: PostgresSettings | null,
  stack: AsyncDisposableStack,
): Promise<Target> {
  if (settings === null) {
    const target = stack.use(new SqliteTarget(folder.database));
    await refuseUsed(target, config.dataDir, 'set RUNWIRE_DATA_DIR to an empty folder');
    return target;
  }
  const target = stack.use(await PostgresTarget.open(settings));
  await refuseUsed(target, `the database ${settings.location}`, 'set DATABASE_URL to an empty one');
  const embedded = unmigratedInstallation(config, settings.location);
  if (embedded !== null) throw embedded;
  return target;
}

/**
 * Returns the interrupted restore's mark in this folder, or a new mark. On S3 the mark is always new. Refuses a
 * folder in use.
 */
async function markFor(blobs: string, begun: string | null, isNew: boolean): Promise<string> {
  const own = await readMark(blobs);
  if (begun !== null && (own === null || own === begun)) return isNew ? newMark() : begun;
  const obstacle = await takenFolder(
    blobs,
    'set RUNWIRE_DATA_DIR to an empty folder, or move that one away: the backup has its own attachments and files',
  );
  if (obstacle !== null) throw obstacle;
  return newMark();
}

/** Returns the mark in the database; null if there is no mark or no database. */
async function markInDatabase(
  { database }: DataFolder,
  settings: PostgresSettings | null,
): Promise<InstallationMark | null> {
  if (settings === null && !existsSync(database)) return null;
  await using snapshot = settings === null ? new SqliteSnapshot(database) : await PostgresSnapshot.open(settings);
  return await readKeptMark(snapshot);
}

async function* getBlobs(backup: Backup): AsyncGenerator<NamedBlob[]> {
  for await (const batch of backup.blobList()) {
    yield batch.map(({ key, sha256 }) => ({ key, inUse: true, digest: { algorithm: 'sha256', hex: sha256 } }));
  }
}

async function finished({ copied }: CopiedBlobs): Promise<void> {
  for await (const _ of copied);
}
