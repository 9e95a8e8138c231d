import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Config, Secrets } from '../config/config.ts';
import { dataFolder, keepSecret, makeDataFolder } from '../config/data-folder.ts';
import { refuseMoved } from '../config/moved-mark.ts';
import { SettingRefused } from '../config/setting-refused.ts';
import { DiskFull } from '../domain/unavailable.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import { FIRST_START_REMEDY } from '../files/disk/claim-folder.ts';
import { takenFolder } from '../files/disk/folder-mark.ts';
import { hasDiskSpace } from '../lib/disk-full.ts';
import type { OtherNodesOptions } from '../nodes/other-nodes.ts';
import type { NodeBeats } from '../store/node-beats.ts';
import { type Notifier, silentNotifier } from '../store/notifier.ts';
import type { JudgeCommit } from '../store/postgres/commit-outcome.ts';
import type { ConflictKind } from '../store/postgres/postgres-store.ts';
import { installation, keepSecretOnce, keptSecret } from '../store/queries/accounts.ts';
import { lockDataFolder } from '../store/sqlite/data-folder-lock.ts';
import { SqliteSnapshot } from '../store/sqlite/sqlite-snapshot.ts';
import { SqliteStore, type SqliteStoreOptions } from '../store/sqlite/sqlite-store.ts';
import { first, type Store } from '../store/store.ts';
import type { NodeIdentity, ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';
import { checkEarlier } from './check-earlier-version.ts';
import { embeddedHere } from './installation-place.ts';

const SLOW_SYNC_MS = 5;

/** Loaded if a database is set: a start on the embedded store does not load its client. */
const postgresParts = async () => ({
  ...(await import('../store/postgres/postgres-store.ts')),
  ...(await import('../store/postgres/postgres-node-beats.ts')),
  ...(await import('../store/postgres/postgres-notifier.ts')),
  ...(await import('../store/postgres/postgres-snapshot.ts')),
});

export interface OpenedStore {
  readonly store: Store;
  /** Signs keys: `RUNWIRE_SECRET`, or what the installation keeps. */
  readonly secret: string;
  /**
   * Whether nobody else can run what is unfinished here. True on the embedded store: whoever holds the lock on the data
   * folder finds every unfinished run orphaned. On PostgreSQL other nodes may be running them.
   */
  readonly isAlone: boolean;
  /** Null on the embedded store, which has one node. */
  readonly beats: (() => NodeBeats) | null;
  /** Brings the hints of other nodes; made when it is asked for. */
  readonly notifier: () => Notifier;
  readonly queueLength: () => number;
  /** The median time of a commit, in milliseconds, and what there is to say about it. */
  readonly measure: () => Promise<{ readonly commitMs: number; readonly warning: string | null }>;
}

export interface StoreHooks {
  readonly waitAt: WaitAt | undefined;
  readonly onFatal: (error: unknown) => void;
  readonly onCommit: (commitMs: number, syncMs: number) => void;
  readonly node: ThisNode;
  /** A transaction found that the others took this node for dead. */
  readonly onFenced: (identity: NodeIdentity) => void;
  readonly onConflict: (kind: ConflictKind) => void;
  /** The node in whose name hints are sent to other nodes; null if none are sent. */
  readonly hintsOf: () => string | null;
  readonly judgeCommit: JudgeCommit | undefined;
}

/** Opens the store that the settings name; what it holds is let go by `stack`. */
export async function openStore(
  config: Config,
  secrets: Secrets,
  times: OtherNodesOptions,
  hooks: StoreHooks,
  stack: AsyncDisposableStack,
): Promise<OpenedStore> {
  if (config.database !== null && secrets.databaseUrl !== null) {
    const settings = { ...config.database, url: secrets.databaseUrl };
    const embedded = embeddedHere(config, settings.place);
    const { PostgresStore, PostgresNodeBeats, PostgresNotifier, PostgresSnapshot } = await postgresParts();
    // Looked for before the database is asked: servers that first start beside this one make tables first, and files later.
    const refusedIfEmpty = embedded ?? (await takenFolder(dataFolder(config.dataDir).blobs, FIRST_START_REMEDY));
    const beforeMigrating = () => checkEarlier(config, times, () => PostgresSnapshot.open(settings));
    const checks = { refusedIfEmpty, beforeMigrating };
    const store = stack.use(await PostgresStore.open({ ...settings, ...hooks, ...checks, migrate: true }));
    if (embedded !== null && (await first(store.reads.all(installation, {}))) === undefined) throw embedded;
    makeDataFolder(config.dataDir);
    return {
      store,
      secret: secrets.secret ?? (await sharedSecret(store)),
      isAlone: false,
      beats: () => new PostgresNodeBeats(settings, times, hooks.onFatal),
      // LISTEN belongs to a connection, which a pooler gives to others.
      notifier: () => (settings.pooled ? silentNotifier : new PostgresNotifier(settings)),
      queueLength: () => store.queueLength,
      measure: async () => ({ commitMs: await store.measureCommit(), warning: null }),
    };
  }
  const folder = makeDataFolder(config.dataDir);
  // Checked before anything is written: a start that fails halfway is harder to understand than one that waits.
  if (!hasDiskSpace(config.dataDir)) throw new DiskFull();
  stack.use(lockDataFolder(folder.lock));
  refuseMoved(folder.movedMark);
  const taken = existsSync(folder.database) ? null : await takenFolder(folder.blobs, FIRST_START_REMEDY);
  if (taken !== null) throw taken;
  const secret = secrets.secret ?? keepSecret(folder.secretFile);
  const beforeMigrating = () => checkEarlier(config, times, async () => new SqliteSnapshot(folder.database));
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
    measure: async () => {
      const commitMs = store.measureSync();
      const warning = commitMs > SLOW_SYNC_MS ? 'the disk is slow to sync: every commit waits for it' : null;
      return { commitMs, warning };
    },
  };
}

function logRefusals(logger: Logger): Pick<SqliteStoreOptions, 'onRefusing' | 'onCheckpointFailed'> {
  return {
    onRefusing: (reason) => {
      if (reason === null) logger.info({}, 'the store takes writes again');
      else logger.error({ err: reason }, 'the store takes no writes: completions are refused, and runs wait');
    },
    onCheckpointFailed: (error) => logger.error({ err: error }, 'a checkpoint failed; it is retried each second'),
  };
}

/** Opens the store of an existing installation, for a command that runs beside its servers. */
export async function openStoreHere(config: Config, secrets: Secrets, stack: AsyncDisposableStack) {
  if (config.database !== null && secrets.databaseUrl !== null) {
    const { PostgresStore } = await postgresParts();
    const settings = { ...config.database, pool: 1, url: secrets.databaseUrl };
    const store = stack.use(await PostgresStore.open({ ...settings, migrate: false, waitAt: undefined }));
    const installation = await store.installation();
    if (installation !== 'current') {
      const { place } = config.database;
      throw new SettingRefused(
        installation === 'none'
          ? `There is no installation in the database ${place}; start the server once, or fix DATABASE_URL.`
          : `The database ${place} has the tables of an earlier version; start a server of this version first, or use the command of that version.`,
      );
    }
    return { store, secret: secrets.secret ?? (await sharedSecret(store)) };
  }
  const folder = dataFolder(config.dataDir);
  if (!existsSync(folder.database)) {
    throw new SettingRefused(
      `There is no installation in ${config.dataDir}; start the server once, or set RUNWIRE_DATA_DIR to its folder.`,
    );
  }
  refuseMoved(folder.movedMark);
  const onFatal = (error: unknown) => {
    throw error;
  };
  const store = stack.use(
    await SqliteStore.open({ path: folder.database, migrate: false, waitAt: undefined, onFatal }),
  );
  return { store, secret: secrets.secret ?? keepSecret(folder.secretFile) };
}

/** Made once for all nodes: of several that make it at the same moment, the row of one stays. */
async function sharedSecret(store: Store): Promise<string> {
  const kept = await first(store.reads.all(keptSecret, {}));
  if (kept !== undefined) return kept.secret;
  return store.transact('account', async (tx) => {
    await tx.run(keepSecretOnce, { secret: randomBytes(48).toString('base64url') });
    return (await first(tx.all(keptSecret, {})))?.secret ?? '';
  });
}
