import { existsSync } from 'node:fs';
import { checkFiles, openFilesAt, readKeptMark, settleAllUploads } from '../compose/open-files.ts';
import { type Config, type Secrets, SettingRefused } from '../config/config.ts';
import { dataFolder } from '../config/data-folder.ts';
import { refuseMoved } from '../config/moved-mark.ts';
import { type Environment, prepareProcess } from '../config/read-config.ts';
import { VERSION } from '../domain/version.ts';
import { copyBlobs, type NamedBlob } from '../files/copy-blobs.ts';
import { writeMark } from '../files/disk/folder-mark.ts';
import type { InstallationMark } from '../files/installation-mark.ts';
import { DiskBlobStore } from '../storage/disk/disk-blob-store.ts';
import { LATEST_MIGRATION } from '../store/migrate.ts';
import { PostgresSnapshot } from '../store/postgres/postgres-snapshot.ts';
import { SqliteSnapshot } from '../store/sqlite/sqlite-snapshot.ts';
import { BACKUP_FORMAT } from '../store/transfer/manifest.ts';
import type { BackupSource, Snapshot } from '../store/transfer/ports.ts';
import { BackupDraft } from '../store/transfer/write-backup.ts';
import type { CommandOutcome } from './command-outcome.ts';
import { noInstallation, postgresSettings, readLatestMigration, readSecretFile } from './installation.ts';
import { openInstalledStore } from './open-installed-store.ts';

/** What a proof uses instead of the real parts. */
export interface BackupOverrides {
  /** `openLater` opens a snapshot of a later moment. */
  readonly wrapSnapshot?: (snapshot: BackupSource, openLater: () => Promise<BackupSource>) => BackupSource;
}

interface BackupResult {
  readonly rows: number;
  /** Attachments and files. */
  readonly blobs: number;
  readonly bytes: number;
  /** Blobs in use that are missing or damaged in this installation, so the backup lacks them too. */
  readonly missing: readonly string[];
  readonly hasSecret: boolean;
}

/** The text lists this many blobs by name. */
const NAMED_BLOBS = 10;

const NO_SECRET =
  'The secret that signs keys is not in it: store the value of RUNWIRE_SECRET together with the backup.';

/** Takes a backup of the installation that the environment names, while its servers run. */
export async function backup(env: Environment, to: string, overrides: BackupOverrides = {}): Promise<CommandOutcome> {
  const { config, secrets } = prepareProcess(env);
  const { rows, blobs, bytes, missing, hasSecret } = await writeBackup(config, secrets, to, overrides);
  const lines = [`Backed up ${rows} rows and ${blobs} attachments and files, ${bytes} bytes, to ${to}.`];
  if (missing.length > 0) {
    lines.push(
      `The backup lacks the attachments and files that are missing or damaged here (${missing.length}). ${to}/missing-blobs.jsonl lists all of them. The first are:`,
      ...missing.slice(0, NAMED_BLOBS).map((key) => `  ${key}`),
    );
  }
  lines.push(hasSecret ? 'The secret that signs keys is in it: protect the backup from other readers.' : NO_SECRET);
  return { text: lines.join('\n'), isWhole: missing.length === 0 };
}

/**
 * Publishes what S3 has received. Then reads the database, as of one moment, and the blobs after it. A row of that moment
 * refers only to blobs that were durable before it, and a blob is deleted a day after its last row at the earliest.
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
  const kept = await settleUploads(config, secrets);
  const opened = await open();
  const snapshot = overrides.wrapSnapshot?.(opened, open) ?? opened;
  const folder = dataFolder(config.dataDir).blobs;
  const takenAt = new Date().toISOString();
  const secret = await storedSecret(config, secrets, opened);
  const tables = await draft.writeTables(snapshot);
  const place = await openFilesAt(config, kept?.mark ?? '', stack);
  const copied = copyBlobs(getBlobs(snapshot), place.blobs, await DiskBlobStore.open(draft.blobs));
  const blobs = await draft.writeBlobList(copied.copied);
  const missing = copied.missing();
  // Without a mark, only the blobs can tell the right folder from a wrong one.
  if (kept === null && missing.length > 0 && copied.count() === 0) {
    throw new SettingRefused(
      `None of the ${missing.length} attachments and files of this installation is in ${folder}; set RUNWIRE_DATA_DIR to the folder that its servers use.`,
    );
  }
  // With the mark, a copy of the folder can replace a lost folder.
  if (kept?.kind === 'disk') await writeMark(draft.blobs, kept.mark);
  if (missing.length > 0) await draft.writeMissing(missing);
  await draft.finish({
    format: BACKUP_FORMAT,
    version: VERSION,
    store: opened.kind,
    takenAt,
    migrations: await opened.migrations(),
    secret: secret === null ? null : await draft.writeSecret(secret),
    tables,
    blobs,
  });
  const listed = Object.values(tables);
  return {
    rows: listed.reduce((sum, table) => sum + table.lines, 0),
    blobs: copied.count(),
    bytes: listed.reduce((sum, table) => sum + table.bytes, copied.bytes()),
    missing,
    hasSecret: secret !== null,
  };
}

/**
 * Checks the installation's files, and publishes what S3 has received, so that a later snapshot contains it. Resolves to
 * the files' mark.
 */
async function settleUploads(config: Config, secrets: Secrets): Promise<InstallationMark | null> {
  await using stack = new AsyncDisposableStack();
  const snapshot = await openSnapshot(config, secrets, stack);
  const level = await readLatestMigration(snapshot);
  const kept = await readKeptMark(snapshot);
  await checkFiles(config, kept);
  // An earlier version's tables are different. Its own servers publish what they have received.
  if (kept?.kind !== 's3' || level !== LATEST_MIGRATION) return kept;
  await settleAllUploads(config, kept.mark, await openInstalledStore(config, secrets, stack));
  return kept;
}

async function openSnapshot(config: Config, secrets: Secrets, stack: AsyncDisposableStack): Promise<BackupSource> {
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
      `There is no installation in the database ${settings.location}; start the server once, or fix DATABASE_URL.`,
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

async function* getBlobs(snapshot: Snapshot): AsyncGenerator<NamedBlob[]> {
  // A table is missing in a version without it.
  if ((await snapshot.columns('blobs')).length > 0) {
    for await (const rows of snapshot.rows('blobs', ['blob_key', 'unused_since'])) {
      yield rows.map(([key, unusedSince]) => ({ key: String(key), inUse: unusedSince === null, digest: null }));
    }
  }
  if ((await snapshot.columns('files')).length === 0) return;
  for await (const rows of snapshot.rows('files', ['blob_key', 'etag', 'text_key', 'freed_at'])) {
    yield rows.flatMap(([key, etag, textKey, freedAt]) => {
      if (freedAt !== null) return [];
      const digest = { algorithm: 'md5', hex: String(etag).slice(1, -1) } as const;
      const file = { key: String(key), inUse: true, digest };
      return textKey === null ? [file] : [file, { key: String(textKey), inUse: true, digest: null }];
    });
  }
}
