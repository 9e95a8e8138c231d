import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hasDiskSpace } from '@runwire/lib/disk-full.ts';
import { type Config, type Secrets, SettingRefused } from '../config/config.ts';
import { dataFolder, keepSecret, makeDataFolder } from '../config/data-folder.ts';
import { readMovedMark, refuseMoved } from '../config/moved-mark.ts';
import { DiskFull } from '../domain/unavailable.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import { FIRST_START_REMEDY } from '../files/disk/claim-folder.ts';
import { takenFolder } from '../files/disk/folder-mark.ts';
import type { Heartbeats } from '../store/heartbeats.ts';
import { type Notifier, silentNotifier } from '../store/notifier.ts';
import type { JudgeCommit } from '../store/postgres/commit-outcome.ts';
import type { ConflictKind } from '../store/postgres/postgres-store.ts';
import type { DatabaseTimes } from '../store/postgres/settings.ts';
import { installation, storedSecret, storeSecretOnce } from '../store/queries/accounts.ts';
import { lockDataFolder } from '../store/sqlite/data-folder-lock.ts';
import { SqliteSnapshot } from '../store/sqlite/sqlite-snapshot.ts';
import { SqliteStore, type SqliteStoreOptions } from '../store/sqlite/sqlite-store.ts';
import { first, type ScrubDepth, type Store } from '../store/store.ts';
import type { NodeIdentity, ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';
import { checkEarlier } from './check-earlier-version.ts';
import type { NodeTimes } from './node-life.ts';

const SLOW_SYNC_MS = 5;

/** Loaded only if a database is set: a start on the embedded store does not need its client. */
export const postgresParts = async () => ({
  ...(await import('../store/postgres/postgres-store.ts')),
  ...(await import('../store/postgres/postgres-heartbeats.ts')),
  ...(await import('../store/postgres/postgres-notifier.ts')),
  ...(await import('../store/postgres/postgres-snapshot.ts')),
});

export interface OpenedStore {
  readonly store: Store;
  /** Signs keys: `RUNWIRE_SECRET`, or the secret that is stored in the installation. */
  readonly secret: string;
  /**
   * True on the embedded store: it has one node, the process that holds the lock on the data folder, so every unfinished
   * run is an orphan when that process starts. On PostgreSQL other nodes may be executing unfinished runs.
   */
  readonly isAlone: boolean;
  /** Null on the embedded store, which has one node. */
  readonly beats: (() => Heartbeats) | null;
  /** Opens the listener for hints of other nodes. */
  readonly notifier: () => Notifier;
  readonly queueLength: () => number;
  /**
   * Removes bytes of deleted rows from the embedded store's files. Null on PostgreSQL, which overwrites them in its
   * own time.
   */
  readonly scrub: ((depth: ScrubDepth) => Promise<void>) | null;
  /** Measures a commit's median time. `warning` is a log line if it is slow. */
  readonly measure: () => Promise<{ readonly commitMs: number; readonly warning: string | null }>;
}

export interface StoreHooks {
  readonly waitAt: WaitAt | undefined;
  readonly onFatal: (error: unknown) => void;
  readonly onCommit: (commitMs: number, syncMs: number) => void;
  readonly node: ThisNode;
  /** A transaction found that other nodes have fenced this node. */
  readonly onFenced: (identity: NodeIdentity) => void;
  readonly onConflict: (kind: ConflictKind) => void;
  /** Returns the node id for hints to other nodes; null if no hints are sent. */
  readonly getHints: () => string | null;
  readonly judgeCommit: JudgeCommit | undefined;
  readonly databaseTimes: DatabaseTimes | undefined;
  readonly heartbeatThread: boolean;
}

/** Opens the store that the settings name. `stack` closes it. */
export async function openStore(
  config: Config,
  secrets: Secrets,
  times: NodeTimes,
  hooks: StoreHooks,
  stack: AsyncDisposableStack,
): Promise<OpenedStore> {
  if (config.database !== null && secrets.databaseUrl !== null) {
    const settings = { ...config.database, url: secrets.databaseUrl, times: hooks.databaseTimes };
    const embedded = unmigratedInstallation(config, settings.location);
    const { PostgresStore, PostgresHeartbeats, PostgresNotifier, PostgresSnapshot } = await postgresParts();
    // Checked before the database is opened: servers that start concurrently for the first time make the tables first
    // and the files later.
    const refusedIfEmpty = embedded ?? (await takenFolder(dataFolder(config.dataDir).blobs, FIRST_START_REMEDY));
    const beforeMigrating = () => checkEarlier(config, () => PostgresSnapshot.open(settings));
    const checks = { refusedIfEmpty, beforeMigrating };
    const store = stack.use(await PostgresStore.open({ ...settings, ...hooks, ...checks, migrate: true }));
    if (embedded !== null && (await first(store.reads.all(installation, {}))) === undefined) throw embedded;
    makeDataFolder(config.dataDir);
    return {
      store,
      secret: secrets.secret ?? (await sharedSecret(store)),
      isAlone: false,
      beats: () => new PostgresHeartbeats(settings, { ...times, ownThread: hooks.heartbeatThread }, hooks.onFatal),
      // LISTEN belongs to a connection, and a pooler gives the connection to other clients.
      notifier: () => (settings.pooled ? silentNotifier : new PostgresNotifier(settings)),
      queueLength: () => store.queueLength,
      scrub: null,
      measure: async () => ({ commitMs: await store.measureCommit(), warning: null }),
    };
  }
  const folder = makeDataFolder(config.dataDir);
  // Checked before anything is written: a start that waits is easier to understand than a start that fails halfway.
  if (!hasDiskSpace(config.dataDir)) throw new DiskFull();
  stack.use(lockDataFolder(folder.lock));
  refuseMoved(folder.movedMark);
  const obstacle = existsSync(folder.database) ? null : await takenFolder(folder.blobs, FIRST_START_REMEDY);
  if (obstacle !== null) throw obstacle;
  const secret = secrets.secret ?? keepSecret(folder.secretFile);
  const beforeMigrating = () => checkEarlier(config, async () => new SqliteSnapshot(folder.database));
  const logged = logRefusals(times.logger);
  const store = stack.use(
    await SqliteStore.open({ path: folder.database, ...hooks, ...logged, beforeMigrating, migrate: true }),
  );
  return {
    store,
    secret,
    isAlone: true,
    beats: null,
    notifier: () => silentNotifier,
    queueLength: () => store.queueLength,
    scrub: (depth) => store.scrub(depth),
    measure: async () => {
      const commitMs = store.measureSync();
      const warning = commitMs > SLOW_SYNC_MS ? 'the disk is slow to sync, and every commit waits for it' : null;
      return { commitMs, warning };
    },
  };
}

/**
 * Returns why a new installation must not begin in this database: the data folder has one of its own, which was not
 * migrated.
 */
export function unmigratedInstallation({ dataDir }: Config, location: string): SettingRefused | null {
  const { database, movedMark } = dataFolder(dataDir);
  if (!existsSync(database) || readMovedMark(movedMark)?.state === 'moved') return null;
  return new SettingRefused(
    `The data folder ${dataDir} contains an embedded installation, and the database ${location} contains none; run \`runwire move\` to copy it there, or set RUNWIRE_DATA_DIR to another folder.`,
  );
}

function logRefusals(logger: Logger): Pick<SqliteStoreOptions, 'onRefusing' | 'onCheckpointFailed'> {
  return {
    onRefusing: (reason) => {
      if (reason === null) logger.info({}, 'the store accepts writes again');
      else logger.error({ err: reason }, 'the store accepts no writes: completions are refused, and runs wait');
    },
    onCheckpointFailed: (error) => logger.error({ err: error }, 'a checkpoint failed; it is retried every second'),
  };
}

/**
 * Returns the secret in the database, and makes it first if there is none. Nodes that make it concurrently get the
 * same one.
 */
export async function sharedSecret(store: Store): Promise<string> {
  const kept = await first(store.reads.all(storedSecret, {}));
  if (kept !== undefined) return kept.secret;
  return store.transact('account', async (tx) => {
    await tx.run(storeSecretOnce, { secret: randomBytes(48).toString('base64url') });
    return (await first(tx.all(storedSecret, {})))?.secret ?? '';
  });
}
