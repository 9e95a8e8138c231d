import { existsSync } from 'node:fs';
import { checkFiles, readKeptMark } from '../compose/open-files.ts';
import { type Config, type Secrets, SettingRefused } from '../config/config.ts';
import { dataFolder } from '../config/data-folder.ts';
import { readMovedMark, refuseMoved, writeMovedMark } from '../config/moved-mark.ts';
import { type Environment, prepareProcess } from '../config/read-config.ts';
import { LATEST_MIGRATION } from '../store/migrate.ts';
import { PostgresSnapshot } from '../store/postgres/postgres-snapshot.ts';
import { PostgresTarget } from '../store/postgres/postgres-target.ts';
import { NODE_DEAD } from '../store/schema.ts';
import { lockDataFolder } from '../store/sqlite/data-folder-lock.ts';
import { SqliteSnapshot } from '../store/sqlite/sqlite-snapshot.ts';
import { type CopiedTable, copyInstallation } from '../store/transfer/copy-installation.ts';
import type { Snapshot } from '../store/transfer/ports.ts';
import {
  commitCopy,
  insertMark,
  insertSecret,
  noInstallation,
  type PostgresSettings,
  postgresSettings,
  readLatestMigration,
  readSecretFile,
  refuseUsed,
} from './installation.ts';

interface MigrationResult {
  readonly tables: readonly CopiedTable[];
  /** True if an earlier migration had copied everything and was interrupted before it could report that. */
  readonly wasDone: boolean;
}

/**
 * `runwire move`: copies the embedded installation into its PostgreSQL database. Resolves to the text for the
 * operator.
 */
export async function migrateToPostgres(env: Environment): Promise<string> {
  const { config, secrets } = prepareProcess(env);
  const { tables, wasDone } = await migrate(config, secrets);
  const location = config.database?.location ?? '';
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const copied = wasDone
    ? `An earlier move had already copied everything to PostgreSQL at ${location}; it is now complete.`
    : `Copied ${tables.length} tables with ${rows} rows from ${config.dataDir} to PostgreSQL at ${location} and read them back: counts and checksums are equal.`;
  return [
    copied,
    ...tables.map((table) => `  ${table.table}: ${table.rows}`),
    config.s3 === null
      ? `Images and files stay in ${config.dataDir}: start all servers with this DATABASE_URL and with that folder as RUNWIRE_DATA_DIR.`
      : `Images and files stay in the bucket ${config.s3.bucket}: start all servers with this DATABASE_URL and with that S3_BUCKET.`,
    `The embedded database was not changed; the file ${dataFolder(config.dataDir).movedMark} prevents servers from starting on it.`,
  ].join('\n');
}

/**
 * Copies the embedded installation into an empty PostgreSQL database. It holds the data folder's lock, so no process
 * writes to either store. If this process dies, the database is empty; the mark tells if the commit happened. The files
 * are not copied, so both databases have the files' same mark.
 */
async function migrate(config: Config, secrets: Secrets): Promise<MigrationResult> {
  const settings = postgresSettings(config, secrets);
  if (settings === null) {
    throw new SettingRefused('`runwire move` needs DATABASE_URL: set it to an empty PostgreSQL database.');
  }
  const folder = dataFolder(config.dataDir);
  if (!existsSync(folder.database)) throw noInstallation(config);
  await using stack = new AsyncDisposableStack();
  stack.use(lockDataFolder(folder.lock));
  const mark = readMovedMark(folder.movedMark);
  // Only the database that the mark names can tell if the migration is complete.
  if (mark !== null && (mark.state === 'moved' || mark.place !== settings.location)) refuseMoved(folder.movedMark);
  const snapshot = stack.use(new SqliteSnapshot(folder.database));
  const level = await readLatestMigration(snapshot);
  const kept = await readKeptMark(snapshot);
  if (level !== LATEST_MIGRATION || kept === null) {
    throw new SettingRefused(
      `The installation in ${config.dataDir} was made by an older version; start this version on it once without DATABASE_URL, stop it, and run the command again.`,
    );
  }
  await checkFiles(config, kept);
  const secret = secrets.secret === null ? readSecretFile(folder.secretFile) : null;
  const moved = (at: Date) => ({ state: 'moved', place: settings.location, at: at.toISOString() }) as const;
  if (mark?.state === 'moving' && (await isMigrated(settings, snapshot))) {
    await writeMovedMark(folder.movedMark, moved(new Date()));
    return { tables: [], wasDone: true };
  }
  const target = stack.use(await PostgresTarget.open(settings));
  await refuseUsed(target, `the database ${settings.location}`, 'set DATABASE_URL to an empty one');
  // This process holds the lock, so a node that is listed as alive has crashed.
  const tables = await copyInstallation(snapshot, target, NODE_DEAD);
  await insertMark(target, kept);
  if (secret !== null) await insertSecret(target, secret);
  const at = new Date();
  await writeMovedMark(folder.movedMark, { ...moved(at), state: 'moving' });
  await commitCopy(target, 'move');
  await writeMovedMark(folder.movedMark, moved(at));
  return { tables, wasDone: false };
}

/** True if this installation is in the database, because an earlier migration committed it. */
async function isMigrated(settings: PostgresSettings, source: Snapshot): Promise<boolean> {
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
