import { existsSync } from 'node:fs';
import { knownLevel, markIn, noInstallation, postgresPlace, readSecretFile } from '../compose/installation-place.ts';
import { checkFiles, openFilesAt } from '../compose/open-files.ts';
import type { Config, Secrets } from '../config/config.ts';
import { dataFolder } from '../config/data-folder.ts';
import { refuseMoved } from '../config/moved-mark.ts';
import { SettingRefused } from '../config/setting-refused.ts';
import { VERSION } from '../domain/version.ts';
import { copyBlobs, type NamedBlob } from '../files/copy-blobs.ts';
import { copyMountOut, type OddFile } from '../files/copy-mount.ts';
import { writeMark } from '../files/disk/folder-mark.ts';
import { DiskBlobStore } from '../storage/disk/disk-blob-store.ts';
import { PostgresSnapshot } from '../store/postgres/postgres-snapshot.ts';
import { SqliteSnapshot } from '../store/sqlite/sqlite-snapshot.ts';
import { BACKUP_FORMAT } from '../store/transfer/manifest.ts';
import type { Snapshot } from '../store/transfer/ports.ts';
import { BackupDraft } from '../store/transfer/write-backup.ts';

/** What a proof puts in place of the real thing. */
export interface BackupOverrides {
  /** `again` opens another snapshot, of a later moment. */
  readonly wrapSnapshot?: (snapshot: Snapshot, again: () => Promise<Snapshot>) => Snapshot;
}

export interface BackedUp {
  readonly rows: number;
  readonly images: number;
  /** Of the integrations' mounts. */
  readonly files: number;
  readonly bytes: number;
  /** Images that are in use and were lost before: they are not in the back-up either. */
  readonly missing: readonly string[];
  /** Files that could not be read, and are not in the back-up. */
  readonly unread: readonly OddFile[];
  /** Files that changed whenever they were read: the back-up has them as they were read last. */
  readonly unsteady: readonly OddFile[];
  readonly hasSecret: boolean;
}

/**
 * Takes a back-up beside the servers, which go on. The database's moment comes first, the images after it: what a
 * message of that moment refers to was durable before the message was, and is deleted a day after the last message
 * that refers to it at the earliest. The files of mounts come last: each as it was at one moment between then and the end.
 */
export async function backUpHere(
  config: Config,
  secrets: Secrets,
  to: string,
  overrides: BackupOverrides = {},
): Promise<BackedUp> {
  await using stack = new AsyncDisposableStack();
  const open = () => openSnapshot(config, secrets, stack);
  const draft = stack.use(await BackupDraft.create(to));
  const opened = await open();
  const snapshot = overrides.wrapSnapshot?.(opened, open) ?? opened;
  await knownLevel(snapshot);
  const folder = dataFolder(config.dataDir).blobs;
  const kept = await markIn(opened);
  await checkFiles(config, kept);
  const takenAt = new Date().toISOString();
  const secret = await keptSecret(config, secrets, opened);
  const tables = await draft.writeTables(snapshot);
  const place = await openFilesAt(config, kept?.mark ?? '', stack);
  const copied = copyBlobs(blobsOf(snapshot), place.blobs, await DiskBlobStore.open(draft.blobs));
  const blobs = await draft.writeBlobList(copied.keys);
  const missing = copied.missing();
  // Without a mark nothing else tells the right folder from a wrong one.
  if (kept === null && missing.length > 0 && copied.count() === 0) {
    throw new SettingRefused(
      `None of the ${missing.length} images of this installation is in ${folder}; set RUNWIRE_DATA_DIR to the folder that its servers use.`,
    );
  }
  // The folder of images is whole then: a copy of it takes the place of a lost one.
  if (kept?.kind === 'disk') await writeMark(draft.blobs, kept.mark);
  if (missing.length > 0) await draft.writeMissing(missing);
  const files = copyMountOut(integrationsOf(snapshot), place.mount, draft.mountBytes);
  const mount = await draft.writeMountList(files.lines);
  const [unread, unsteady] = [files.missing(), files.unsteady()];
  if (unread.length + unsteady.length > 0) await draft.writeOddFiles([...unread, ...unsteady]);
  await draft.finish({
    format: BACKUP_FORMAT,
    version: VERSION,
    store: opened.kind,
    takenAt,
    migrations: await opened.migrations(),
    secret: secret === null ? null : await draft.writeSecret(secret),
    tables,
    blobs,
    mount,
  });
  const listed = Object.values(tables);
  return {
    rows: listed.reduce((sum, table) => sum + table.lines, 0),
    images: copied.count(),
    files: files.count(),
    bytes: listed.reduce((sum, table) => sum + table.bytes, copied.bytes() + files.bytes()),
    missing,
    unread,
    unsteady,
    hasSecret: secret !== null,
  };
}

async function openSnapshot(config: Config, secrets: Secrets, stack: AsyncDisposableStack): Promise<Snapshot> {
  const settings = postgresPlace(config, secrets);
  const folder = dataFolder(config.dataDir);
  if (settings === null) {
    if (!existsSync(folder.database)) throw noInstallation(config);
    // What is taken every night must not go on being taken from the past.
    refuseMoved(folder.movedMark);
    return stack.use(new SqliteSnapshot(folder.database));
  }
  const snapshot = stack.use(await PostgresSnapshot.open(settings));
  if ((await snapshot.columns('installation')).length === 0) {
    throw new SettingRefused(
      `There is no installation in the database ${settings.place}; start the server once, or mend DATABASE_URL.`,
    );
  }
  return snapshot;
}

/** What signs keys, where no setting does. */
async function keptSecret(config: Config, secrets: Secrets, snapshot: Snapshot): Promise<string | null> {
  if (secrets.secret !== null) return null;
  if (snapshot.kind === 'sqlite') return readSecretFile(dataFolder(config.dataDir).secretFile);
  for await (const [row] of snapshot.rows('installation_secret', ['secret'])) return String(row?.[0]);
  return null;
}

async function* blobsOf(snapshot: Snapshot): AsyncGenerator<NamedBlob[]> {
  // Of a version that took no images.
  if ((await snapshot.columns('blobs')).length === 0) return;
  for await (const rows of snapshot.rows('blobs', ['blob_key', 'unused_since'])) {
    yield rows.map(([key, unusedSince]) => ({ key: String(key), inUse: unusedSince === null }));
  }
}

/** Those that are not deleted: the files of the others are about to go. */
async function* integrationsOf(snapshot: Snapshot): AsyncGenerator<string[]> {
  for await (const rows of snapshot.rows('integrations', ['integration_id', 'deleted_at'])) {
    yield rows.filter(([, deletedAt]) => deletedAt === null).map(([integrationId]) => String(integrationId));
  }
}
