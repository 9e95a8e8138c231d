import { existsSync } from 'node:fs';
import {
  commitOf,
  knownLevel,
  markIn,
  noInstallation,
  type PostgresPlace,
  postgresPlace,
  putMark,
  putSecret,
  readSecretFile,
  refuseTaken,
} from '../compose/installation-place.ts';
import { checkFiles } from '../compose/open-files.ts';
import type { Config, Secrets } from '../config/config.ts';
import { dataFolder } from '../config/data-folder.ts';
import { readMovedMark, refuseMoved, writeMovedMark } from '../config/moved-mark.ts';
import { SettingRefused } from '../config/setting-refused.ts';
import { LATEST_MIGRATION } from '../store/migrate.ts';
import { PostgresSnapshot } from '../store/postgres/postgres-snapshot.ts';
import { PostgresTarget } from '../store/postgres/postgres-target.ts';
import { NODE_DEAD } from '../store/schema.ts';
import { lockDataFolder } from '../store/sqlite/data-folder-lock.ts';
import { SqliteSnapshot } from '../store/sqlite/sqlite-snapshot.ts';
import { type CopiedTable, copyInstallation } from '../store/transfer/copy-installation.ts';
import type { Snapshot } from '../store/transfer/ports.ts';

export interface Moved {
  readonly tables: readonly CopiedTable[];
  /** Whether an earlier move had done it, and was interrupted before it could say so. */
  readonly wasDone: boolean;
}

/**
 * Copies the embedded installation into an empty PostgreSQL database, with the folder's lock in hand: nobody writes to
 * either meanwhile. A process that dies leaves the database as it was; the mark tells an interrupted end from a done one.
 * The files stay where they are, so the folder's mark is known to both databases.
 */
export async function moveHere(config: Config, secrets: Secrets): Promise<Moved> {
  const settings = postgresPlace(config, secrets);
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
  const kept = await markIn(snapshot);
  if (level !== LATEST_MIGRATION || kept === null) {
    throw new SettingRefused(
      `The installation in ${config.dataDir} is of an older version; start this version on it once without DATABASE_URL, stop it, and move then.`,
    );
  }
  await checkFiles(config, kept);
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
  await putMark(target, kept);
  if (secret !== null) await putSecret(target, secret);
  const at = new Date();
  await writeMovedMark(folder.movedMark, { ...moved(at), state: 'moving' });
  await commitOf(target, 'move');
  await writeMovedMark(folder.movedMark, moved(at));
  return { tables, wasDone: false };
}

/** Whether this very installation is in the database: an earlier move committed it. */
async function isHere(settings: PostgresPlace, source: Snapshot): Promise<boolean> {
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
