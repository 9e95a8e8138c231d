import { readFileSync } from 'node:fs';
import { type Config, type Secrets, SettingRefused } from '../config/config.ts';
import type { InstallationMark } from '../files/installation-mark.ts';
import { unknownMigrations } from '../store/migrate.ts';
import { VALID_MARK_ID } from '../store/queries/blob-folder.ts';
import type { Snapshot, Target } from '../store/transfer/ports.ts';

export type PostgresSettings = NonNullable<ReturnType<typeof postgresSettings>>;

/** Returns null if the settings name the embedded store. */
export function postgresSettings({ database }: Config, { databaseUrl }: Secrets) {
  return database === null || databaseUrl === null ? null : { ...database, url: databaseUrl };
}

/** Returns the last migration of the installation. Refuses an installation of a newer version. */
export async function readLatestMigration(snapshot: Snapshot): Promise<string> {
  const migrations = await snapshot.migrations();
  if (unknownMigrations(migrations).length === 0) return migrations.at(-1) ?? '';
  throw new SettingRefused(
    'The database was made by a newer version of Runwire than this one; use the command of that version.',
  );
}

/** Stores the files' mark in the database that a command fills. */
export async function insertMark(target: Target, { mark, kind }: InstallationMark): Promise<void> {
  await target.insert('blob_folder', ['id', 'mark', 'kind'], [[VALID_MARK_ID, mark, kind]]);
}

/** Stores the secret that signs keys in the database that a command fills. */
export async function insertSecret(target: Target, secret: string): Promise<void> {
  await target.insert('installation_secret', ['id', 'secret'], [[1, secret]]);
}

export function readSecretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingRefused(`The installation's secret cannot be read (${reason}); fix that, or set RUNWIRE_SECRET.`);
  }
}

export function noInstallation({ dataDir }: Config): SettingRefused {
  return new SettingRefused(
    `There is no installation in ${dataDir}; start the server once, or set RUNWIRE_DATA_DIR to its folder.`,
  );
}

/** Refuses a database or folder that holds an installation. */
export async function refuseUsed(target: Target, place: string, remedy: string): Promise<void> {
  if (!(await target.isEmpty())) throw new SettingRefused(`An installation already exists in ${place}; ${remedy}.`);
}

/** Commits. If the outcome is unknown, the same command finds it out when it is run again. */
export async function commitCopy(target: Target, command: 'move' | 'restore'): Promise<void> {
  try {
    await target.commit();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingRefused(
      `The end of the ${command} was not confirmed (${reason}); run \`runwire ${command}\` again.`,
    );
  }
}
