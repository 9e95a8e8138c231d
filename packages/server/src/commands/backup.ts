import { existsSync } from 'node:fs';
import { checkFiles, openFilesAt, readKeptMark } from '../compose/open-files.ts';
import { type Config, type Secrets, SettingRefused } from '../config/config.ts';
import { dataFolder } from '../config/data-folder.ts';
import { refuseMoved } from '../config/moved-mark.ts';
import { type Environment, prepareProcess } from '../config/read-config.ts';
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
import { type CommandOutcome, describeFiles, NAMED_FILES } from './command-outcome.ts';
import { latestMigrationOf, noInstallation, postgresSettings, readSecretFile } from './installation.ts';

/** What a proof uses instead of the real parts. */
export interface BackupOverrides {
  /** `openLater` opens a snapshot of a later moment. */
  readonly wrapSnapshot?: (snapshot: Snapshot, openLater: () => Promise<Snapshot>) => Snapshot;
}

interface BackupResult {
  readonly rows: number;
  readonly images: number;
  /** Files in the mounts of the integrations. */
  readonly files: number;
  readonly bytes: number;
  /**
   * Images that messages refer to, but that are missing or damaged in this installation, so the backup lacks them too.
   */
  readonly missing: readonly string[];
  /** Files that could not be read. The backup lacks them. */
  readonly unread: readonly OddFile[];
  /** Files that changed during each attempt to read them. The backup has the bytes of the last attempt. */
  readonly unsteady: readonly OddFile[];
  readonly hasSecret: boolean;
}

const NO_SECRET =
  'The secret that signs keys is not in it: store the value of RUNWIRE_SECRET together with the backup.';

/** Takes a backup of the installation that the environment names, while its servers run. */
export async function backup(env: Environment, to: string, overrides: BackupOverrides = {}): Promise<CommandOutcome> {
  const { config, secrets } = prepareProcess(env);
  const { rows, images, files, bytes, missing, unread, unsteady, hasSecret } = await writeBackup(
    config,
    secrets,
    to,
    overrides,
  );
  const lines = [`Backed up ${rows} rows, ${images} images and ${files} files, ${bytes} bytes, to ${to}.`];
  if (missing.length > 0) {
    lines.push(
      `Images that messages refer to but that are missing or damaged here, so they are not in the backup: ${missing.length}. ${to}/missing-images.jsonl lists them all; the first:`,
      ...missing.slice(0, NAMED_FILES).map((key) => `  ${key}`),
    );
  }
  if (unread.length > 0) {
    lines.push(
      `Files that could not be read and are not in the backup: ${unread.length}. ${to}/odd-files.jsonl lists them all; the first:`,
      ...describeFiles(unread),
    );
  }
  if (unsteady.length > 0) {
    lines.push(
      `Files that changed each time they were read; the backup has the last version that was read: ${unsteady.length}. ${to}/odd-files.jsonl lists them all; the first:`,
      ...describeFiles(unsteady),
    );
  }
  lines.push(hasSecret ? 'The secret that signs keys is in it: protect the backup from other readers.' : NO_SECRET);
  return { text: lines.join('\n'), isWhole: missing.length + unread.length + unsteady.length === 0 };
}

/**
 * Reads the database first, as of one moment, and the images after it. A message of that moment refers only to images
 * that were durable before it, and an image is deleted a day after its last message at the earliest. The files of mounts
 * are read last: each as it was at some moment between then and the end of the backup.
 */
async function writeBackup(
  config: Config,
  secrets: Secrets,
  to: string,
  overrides: BackupOverrides,
): Promise<BackupResult> {
  await using stack = new AsyncDisposableStack();
  const open = () => openSnapshot(config, secrets, stack);
  const draft = stack.use(await BackupDraft.create(to));
  const opened = await open();
  const snapshot = overrides.wrapSnapshot?.(opened, open) ?? opened;
  await latestMigrationOf(snapshot);
  const folder = dataFolder(config.dataDir).blobs;
  const kept = await readKeptMark(opened);
  await checkFiles(config, kept);
  const takenAt = new Date().toISOString();
  const secret = await storedSecret(config, secrets, opened);
  const tables = await draft.writeTables(snapshot);
  const place = await openFilesAt(config, kept?.mark ?? '', stack);
  const copied = copyBlobs(blobsOf(snapshot), place.blobs, await DiskBlobStore.open(draft.blobs));
  const blobs = await draft.writeBlobList(copied.keys);
  const missing = copied.missing();
  // Without a mark, only the images can tell the right folder from a wrong one.
  if (kept === null && missing.length > 0 && copied.count() === 0) {
    throw new SettingRefused(
      `None of the ${missing.length} images of this installation is in ${folder}; set RUNWIRE_DATA_DIR to the folder that its servers use.`,
    );
  }
  // With the mark, a copy of the folder of images can replace a lost folder.
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
  const settings = postgresSettings(config, secrets);
  const folder = dataFolder(config.dataDir);
  if (settings === null) {
    if (!existsSync(folder.database)) throw noInstallation(config);
    // A nightly backup must not continue to copy the old database after a migration.
    refuseMoved(folder.movedMark);
    return stack.use(new SqliteSnapshot(folder.database));
  }
  const snapshot = stack.use(await PostgresSnapshot.open(settings));
  if ((await snapshot.columns('installation')).length === 0) {
    throw new SettingRefused(
      `There is no installation in the database ${settings.place}; start the server once, or fix DATABASE_URL.`,
    );
  }
  return snapshot;
}

/** Returns the secret that signs keys. Returns null if RUNWIRE_SECRET is set, because a setting is not backed up. */
async function storedSecret(config: Config, secrets: Secrets, snapshot: Snapshot): Promise<string | null> {
  if (secrets.secret !== null) return null;
  if (snapshot.kind === 'sqlite') return readSecretFile(dataFolder(config.dataDir).secretFile);
  for await (const [row] of snapshot.rows('installation_secret', ['secret'])) return String(row?.[0]);
  return null;
}

async function* blobsOf(snapshot: Snapshot): AsyncGenerator<NamedBlob[]> {
  // The table is missing in a version without images.
  if ((await snapshot.columns('blobs')).length === 0) return;
  for await (const rows of snapshot.rows('blobs', ['blob_key', 'unused_since'])) {
    yield rows.map(([key, unusedSince]) => ({ key: String(key), inUse: unusedSince === null }));
  }
}

/** Leaves out deleted integrations, whose files are about to be deleted. */
async function* integrationsOf(snapshot: Snapshot): AsyncGenerator<string[]> {
  for await (const rows of snapshot.rows('integrations', ['integration_id', 'deleted_at'])) {
    yield rows.filter(([, deletedAt]) => deletedAt === null).map(([integrationId]) => String(integrationId));
  }
}
