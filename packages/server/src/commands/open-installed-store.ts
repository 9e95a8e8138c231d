import { existsSync } from 'node:fs';
import { postgresParts, sharedSecret } from '../compose/open-store.ts';
import { type Config, type Secrets, SettingRefused } from '../config/config.ts';
import { dataFolder, keepSecret } from '../config/data-folder.ts';
import { refuseMoved } from '../config/moved-mark.ts';
import { isMigrated } from '../store/migrate.ts';
import { SqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { noInstallation, postgresSettings } from './installation.ts';

/** Opens an existing installation's store, for a command that runs while its servers run. */
export async function openInstalledStore(
  config: Config,
  secrets: Secrets,
  stack: AsyncDisposableStack,
): Promise<Store> {
  const settings = postgresSettings(config, secrets);
  if (settings !== null) {
    const { PostgresStore } = await postgresParts();
    const store = stack.use(await PostgresStore.open({ ...settings, pool: 1, migrate: false, waitAt: undefined }));
    const installation = await store.installation();
    if (installation !== 'current') {
      const { location } = settings;
      throw new SettingRefused(
        installation === 'none'
          ? `There is no installation in the database ${location}; start the server once, or fix DATABASE_URL.`
          : `The database ${location} has the tables of an earlier version; start a server of this version first, or use the command of that version.`,
      );
    }
    return store;
  }
  const folder = dataFolder(config.dataDir);
  if (!existsSync(folder.database)) throw noInstallation(config);
  refuseMoved(folder.movedMark);
  const onFatal = (error: unknown) => {
    throw error;
  };
  return stack.use(await SqliteStore.open({ path: folder.database, migrate: false, waitAt: undefined, onFatal }));
}

/** Refuses an installation that no server of this version has migrated: it lacks tables that a command needs. */
export async function refuseEarlierTables(store: Store): Promise<void> {
  if (await isMigrated(store.reads)) return;
  throw new SettingRefused(
    'The installation has the tables of an earlier version; start a server of this version first.',
  );
}

/** Returns the secret that signs the installation's keys, and makes one if there is none. */
export async function installedSecret({ dataDir }: Config, { secret }: Secrets, store: Store): Promise<string> {
  if (secret !== null) return secret;
  return store.kind === 'postgres' ? await sharedSecret(store) : keepSecret(dataFolder(dataDir).secretFile);
}
