import { existsSync, readFileSync } from 'node:fs';
import type { Config, Secrets } from './config/config.ts';
import { dataFolder, makeDataFolder } from './config/data-folder.ts';
import { readMovedMark, refuseMoved, writeMovedMark } from './config/moved-mark.ts';
import { SettingRefused } from './config/setting-refused.ts';
import { VERSION } from './domain/version.ts';
import { type CopiedBlobs, copyBlobs, type NamedBlob } from './files/copy-blobs.ts';
import { DiskBlobStore } from './files/disk/disk-blob-store.ts';
import { writeDurably } from './lib/durable-files.ts';
import { LATEST_MIGRATION, unknownMigrations } from './store/migrate.ts';
import { PostgresSnapshot } from './store/postgres/postgres-snapshot.ts';
import { PostgresTarget } from './store/postgres/postgres-target.ts';
import { NODE_DEAD, NODE_RELEASED } from './store/schema.ts';
import { lockDataFolder } from './store/sqlite/data-folder-lock.ts';
import { SqliteSnapshot } from './store/sqlite/sqlite-snapshot.ts';
import { SqliteTarget } from './store/sqlite/sqlite-target.ts';
import { type CopiedTable, copyInstallation } from './store/transfer/copy-installation.ts';
import { BACKUP_FORMAT, BackupRefused } from './store/transfer/manifest.ts';
import type { Snapshot, Target } from './store/transfer/ports.ts';
import { Backup } from './store/transfer/read-backup.ts';
import { BackupDraft } from './store/transfer/write-backup.ts';

/** What a proof puts in place of the real thing. */
export interface MovingOverrides {
  /** `again` opens another snapshot, of a later moment. */
  readonly wrapSnapshot?: (snapshot: Snapshot, again: () => Promise<Snapshot>) => Snapshot;
}

export interface Moved {
  readonly tables: readonly CopiedTable[];
  /** Whether an earlier move had done it, and was interrupted before it could say so. */
  readonly wasDone: boolean;
}

export interface BackedUp {
  readonly rows: number;
  readonly images: number;
  readonly bytes: number;
  /** Images that are in use and were lost before: they are not in the back-up either. */
  readonly missing: readonly string[];
  readonly hasSecret: boolean;
}

export type Restored = Omit<BackedUp, 'missing'>;

/**
 * Copies the embedded installation into an empty PostgreSQL database, with the folder's lock in hand: nobody writes to
 * either meanwhile. A process that dies leaves the database as it was; the mark tells an interrupted end from a done one.
 */
export async function moveHere(config: Config, secrets: Secrets): Promise<Moved> {
  const settings = postgresSettings(config, secrets);
  if (settings === null) {
    throw new SettingRefused('`runwire move` needs DATABASE_URL: set it to an empty PostgreSQL database.');
  }
  const folder = dataFolder(config.dataDir);
  if (!existsSync(folder.database)) throw noInstallation(config);
  await using stack = new AsyncDisposableStack();
  stack.use(lockDataFolder(folder.lock));
  const mark = readMovedMark(folder.movedMark);
  // Whether it is done in another database, only that one knows.
  if (mark !== null && (mark.state === 'moved' || mark.place !== settings.place)) refuseMoved(folder.movedMark);
  const snapshot = stack.use(new SqliteSnapshot(folder.database));
  const level = await knownLevel(snapshot);
  if (level !== LATEST_MIGRATION) {
    throw new SettingRefused(
      `The installation in ${config.dataDir} is of an older version; start this version on it once without DATABASE_URL, stop it, and move then.`,
    );
  }
  const secret = secrets.secret === null ? readSecretFile(folder.secretFile) : null;
  const moved = (at: Date) => ({ state: 'moved', place: settings.place, at: at.toISOString() }) as const;
  if (mark?.state === 'moving' && (await isHere(settings, snapshot))) {
    await writeMovedMark(folder.movedMark, moved(new Date()));
    return { tables: [], wasDone: true };
  }
  const target = stack.use(await PostgresTarget.open(settings));
  await refuseTaken(target, `the database ${settings.place}`, 'set DATABASE_URL to an empty one');
  // Who was alive when the lock was let go died without a word.
  const tables = await copyInstallation(snapshot, target, NODE_DEAD);
  if (secret !== null) await target.insert('installation_secret', ['id', 'secret'], [[1, secret]]);
  const at = new Date();
  await writeMovedMark(folder.movedMark, { ...moved(at), state: 'moving' });
  try {
    await target.commit();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingRefused(`The end of the move was not confirmed (${reason}); run \`runwire move\` again.`);
  }
  await writeMovedMark(folder.movedMark, moved(at));
  return { tables, wasDone: false };
}

/** Whether this very installation is in the database: an earlier move committed it. */
async function isHere(settings: PostgresTargetSettings, source: Snapshot): Promise<boolean> {
  await using there = await PostgresSnapshot.open(settings);
  if ((await there.columns('owners')).length === 0) return false;
  const firstOwners = async (snapshot: Snapshot) => {
    const owners: string[] = [];
    for await (const rows of snapshot.rows('owners', ['owner_id', 'administrator'])) {
      for (const [owner, administrator] of rows) if (administrator === 1) owners.push(String(owner));
    }
    return owners.join();
  };
  const mine = await firstOwners(source);
  return mine !== '' && mine === (await firstOwners(there));
}

/**
 * Takes a back-up beside the servers, which go on. The database's moment comes first, the images after it: what a
 * message of that moment refers to was durable before the message was, and is deleted a day after the last message
 * that refers to it at the earliest.
 */
export async function backUpHere(
  config: Config,
  secrets: Secrets,
  to: string,
  overrides: MovingOverrides = {},
): Promise<BackedUp> {
  await using stack = new AsyncDisposableStack();
  const open = () => openSnapshot(config, secrets, stack);
  const draft = stack.use(await BackupDraft.create(to));
  const opened = await open();
  const snapshot = overrides.wrapSnapshot?.(opened, open) ?? opened;
  await knownLevel(snapshot);
  const takenAt = new Date().toISOString();
  const secret = await keptSecret(config, secrets, opened);
  const tables = await draft.writeTables(snapshot);
  const folder = dataFolder(config.dataDir).blobs;
  const copied = copyBlobs(blobsOf(snapshot), await DiskBlobStore.open(folder), await DiskBlobStore.open(draft.blobs));
  const blobs = await draft.writeBlobList(copied.keys);
  const missing = copied.missing();
  if (missing.length > 0 && copied.count() === 0) {
    throw new SettingRefused(
      `None of the ${missing.length} images of this installation is in ${folder}; set RUNWIRE_DATA_DIR to the folder that its servers use.`,
    );
  }
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
    images: copied.count(),
    bytes: listed.reduce((sum, table) => sum + table.bytes, copied.bytes()),
    missing,
    hasSecret: secret !== null,
  };
}

/** Puts a back-up of either store into an empty place of the store that the settings name. */
export async function restoreHere(config: Config, secrets: Secrets, from: string): Promise<Restored> {
  const backup = await Backup.open(from);
  const settings = postgresSettings(config, secrets);
  await using stack = new AsyncDisposableStack();
  const folder = makeDataFolder(config.dataDir);
  let target: Target;
  if (settings === null) {
    stack.use(lockDataFolder(folder.lock));
    refuseMoved(folder.movedMark);
    target = stack.use(new SqliteTarget(folder.database));
    await refuseTaken(target, config.dataDir, 'set RUNWIRE_DATA_DIR to an empty folder');
  } else {
    target = stack.use(await PostgresTarget.open(settings));
    await refuseTaken(target, `the database ${settings.place}`, 'set DATABASE_URL to an empty one');
  }
  const copied = copyBlobs(
    inUse(backup.blobKeys()),
    await DiskBlobStore.open(backup.blobs),
    await DiskBlobStore.open(folder.blobs),
  );
  await finished(copied);
  const [lost] = copied.missing();
  if (lost !== undefined) {
    throw new BackupRefused(
      `The back-up ${from} is damaged: the image ${lost} is not as it was written; use another back-up.`,
    );
  }
  // A run that was under way when the back-up was taken did not crash.
  const tables = await copyInstallation(backup, target, NODE_RELEASED);
  const secret = await backup.secret();
  if (secret !== null && settings === null) await writeDurably(folder.secretFile, `${secret}\n`);
  if (secret !== null && settings !== null) {
    await target.insert('installation_secret', ['id', 'secret'], [[1, secret]]);
  }
  await target.commit();
  const listed = Object.values(backup.manifest.tables);
  return {
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    images: copied.count(),
    bytes: listed.reduce((sum, table) => sum + table.bytes, copied.bytes()),
    hasSecret: secret !== null,
  };
}

type PostgresTargetSettings = NonNullable<ReturnType<typeof postgresSettings>>;

function postgresSettings({ database }: Config, { databaseUrl }: Secrets) {
  return database === null || databaseUrl === null ? null : { ...database, url: databaseUrl };
}

async function openSnapshot(config: Config, secrets: Secrets, stack: AsyncDisposableStack): Promise<Snapshot> {
  const settings = postgresSettings(config, secrets);
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

/** The last migration of the snapshot, which this program must know. */
async function knownLevel(snapshot: Snapshot): Promise<string> {
  const migrations = await snapshot.migrations();
  if (unknownMigrations(migrations).length === 0) return migrations.at(-1) ?? '';
  throw new SettingRefused(
    'The database was made by a newer version of Runwire than this one; use the command of that version.',
  );
}

/** What signs keys, where no setting does. */
async function keptSecret(config: Config, secrets: Secrets, snapshot: Snapshot): Promise<string | null> {
  if (secrets.secret !== null) return null;
  if (snapshot.kind === 'sqlite') return readSecretFile(dataFolder(config.dataDir).secretFile);
  for await (const [row] of snapshot.rows('installation_secret', ['secret'])) return String(row?.[0]);
  return null;
}

function readSecretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingRefused(`The installation's secret cannot be read (${reason}); mend that, or set RUNWIRE_SECRET.`);
  }
}

function noInstallation({ dataDir }: Config): SettingRefused {
  return new SettingRefused(
    `There is no installation in ${dataDir}; start the server once, or set RUNWIRE_DATA_DIR to its folder.`,
  );
}

async function refuseTaken(target: Target, place: string, remedy: string): Promise<void> {
  if (!(await target.isEmpty())) throw new SettingRefused(`There is an installation in ${place} already; ${remedy}.`);
}

async function* blobsOf(snapshot: Snapshot): AsyncGenerator<NamedBlob[]> {
  // Of a version that took no images.
  if ((await snapshot.columns('blobs')).length === 0) return;
  for await (const rows of snapshot.rows('blobs', ['blob_key', 'unused_since'])) {
    yield rows.map(([key, unusedSince]) => ({ key: String(key), inUse: unusedSince === null }));
  }
}

async function* inUse(keys: AsyncIterable<readonly string[]>): AsyncGenerator<NamedBlob[]> {
  for await (const batch of keys) yield batch.map((key) => ({ key, inUse: true }));
}

async function finished({ keys }: CopiedBlobs): Promise<void> {
  for await (const _ of keys);
}
