import { KeySigning } from '../accounts/key-signing.ts';
import { createKeyOfFirstOwner } from '../accounts/keys.ts';
import { type Environment, prepareProcess } from '../config/read-config.ts';
import { installedSecret, openInstalledStore, refuseEarlierTables } from './open-installed-store.ts';

/** Creates a key of the first owner and resolves to it. Running servers accept the key immediately. */
export async function createKey(env: Environment, name: string): Promise<string> {
  const { config, secrets } = prepareProcess(env);
  await using stack = new AsyncDisposableStack();
  const store = await openInstalledStore(config, secrets, stack);
  await refuseEarlierTables(store);
  const secret = await installedSecret(config, secrets, store);
  return await createKeyOfFirstOwner(store, new KeySigning(secret), name);
}
