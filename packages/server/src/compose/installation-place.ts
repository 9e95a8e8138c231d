import { existsSync, readFileSync } from 'node:fs';
import type { Config, Secrets } from '../config/config.ts';
import { dataFolder } from '../config/data-folder.ts';
import { readMovedMark } from '../config/moved-mark.ts';
import { SettingRefused } from '../config/setting-refused.ts';
import type { KeptMark } from '../files/installation-mark.ts';
import { unknownMigrations } from '../store/migrate.ts';
import { KEPT } from '../store/queries/blob-folder.ts';
import type { Snapshot, Target } from '../store/transfer/ports.ts';

/** What the commands that back up, restore and move an installation ask of the places that the settings name. */
export type PostgresPlace = NonNullable<ReturnType<typeof postgresPlace>>;

/** Null: the embedded store. */
export function postgresPlace({ database }: Config, { databaseUrl }: Secrets) {
  return database === null || databaseUrl === null ? null : { ...database, url: databaseUrl };
}

/** Why nothing new may begin in this database: the data folder has an installation of its own, which was not moved. */
export function embeddedHere({ dataDir }: Config, place: string): SettingRefused | null {
  const { database, movedMark } = dataFolder(dataDir);
  if (!existsSync(database) || readMovedMark(movedMark)?.state === 'moved') return null;
  return new SettingRefused(
    `The data folder ${dataDir} holds an embedded installation, and the database ${place} holds none; run \`runwire move\` to take it there, or set RUNWIRE_DATA_DIR to another folder.`,
  );
}

/** The last migration of the snapshot, which this program must know. */
export async function knownLevel(snapshot: Snapshot): Promise<string> {
  const migrations = await snapshot.migrations();
  if (unknownMigrations(migrations).length === 0) return migrations.at(-1) ?? '';
  throw new SettingRefused(
    'The database was made by a newer version of Runwire than this one; use the command of that version.',
  );
}

/** What the installation's files are marked with; null: it is of a version that had no marks, or not there. */
export async function markIn(snapshot: Snapshot): Promise<KeptMark | null> {
  const columns = await snapshot.columns('blob_folder');
  if (columns.length === 0) return null;
  // Of a version that had the disk alone.
  const hasKind = columns.includes('kind');
  for await (const rows of snapshot.rows('blob_folder', hasKind ? ['id', 'mark', 'kind'] : ['id', 'mark'])) {
    for (const [id, mark, kind] of rows) {
      if (id === KEPT) return { mark: String(mark), kind: kind === 's3' ? 's3' : 'disk' };
    }
  }
  return null;
}

export async function putMark(target: Target, { mark, kind }: KeptMark): Promise<void> {
  await target.insert('blob_folder', ['id', 'mark', 'kind'], [[KEPT, mark, kind]]);
}

export async function putSecret(target: Target, secret: string): Promise<void> {
  await target.insert('installation_secret', ['id', 'secret'], [[1, secret]]);
}

export function readSecretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingRefused(`The installation's secret cannot be read (${reason}); mend that, or set RUNWIRE_SECRET.`);
  }
}

export function noInstallation({ dataDir }: Config): SettingRefused {
  return new SettingRefused(
    `There is no installation in ${dataDir}; start the server once, or set RUNWIRE_DATA_DIR to its folder.`,
  );
}

export async function refuseTaken(target: Target, place: string, remedy: string): Promise<void> {
  if (!(await target.isEmpty())) throw new SettingRefused(`There is an installation in ${place} already; ${remedy}.`);
}

/** Nobody knows whether it is there now: the same command looks, when it is run again. */
export async function commitOf(target: Target, command: 'move' | 'restore'): Promise<void> {
  try {
    await target.commit();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingRefused(
      `The end of the ${command} was not confirmed (${reason}); run \`runwire ${command}\` again.`,
    );
  }
}
