import { existsSync } from 'node:fs';
import { KeySigning } from './accounts/key-signing.ts';
import { signKey } from './accounts/keys.ts';
import { dataFolder, keepSecret } from './config/data-folder.ts';
import { readConfig, SettingRefused } from './config/read-config.ts';
import { firstOwner, raiseAccountsVersion } from './store/queries/accounts.ts';
import { SqliteStore } from './store/sqlite/sqlite-store.ts';
import { first } from './store/store.ts';

/** A new key of the first owner; works beside a running server, which sees it at once. */
export async function createKeyHere(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): Promise<{ readonly keyId: string; readonly apiKey: string }> {
  const { config, secrets } = readConfig(env);
  const folder = dataFolder(config.dataDir);
  if (!existsSync(folder.database)) {
    throw new SettingRefused(
      `There is no installation in ${config.dataDir}; start the server once, or set RUNWIRE_DATA_DIR to its folder.`,
    );
  }
  const onFatal = (error: unknown) => {
    throw error;
  };
  await using store = await SqliteStore.open({ path: folder.database, waitAt: undefined, onFatal });
  const owner = await first(store.reads.all(firstOwner, {}));
  if (owner === undefined) {
    throw new SettingRefused('The installation has no owner yet; start the server once, then run this again.');
  }
  const signing = new KeySigning(secrets.secret ?? keepSecret(folder.secretFile));
  const key = await signKey(signing, { ownerId: owner.owner_id, name, expiresAt: null });
  await store.transact('account', async (tx) => {
    await key.store(tx);
    await tx.run(raiseAccountsVersion, {});
  });
  return { keyId: key.keyId, apiKey: key.apiKey };
}
