import { createSetUpLink, setUpUrl } from '../accounts/set-up-links.ts';
import { type Environment, prepareProcess } from '../config/read-config.ts';
import { openInstalledStore, refuseEarlierTables } from './open-installed-store.ts';

/** Creates a set-up link of the owner with this e-mail, or of the first owner. Resolves to the link. */
export async function createOwnerLink(env: Environment, email: string | null): Promise<string> {
  const { config, secrets } = prepareProcess(env);
  await using stack = new AsyncDisposableStack();
  const store = await openInstalledStore(config, secrets, stack);
  await refuseEarlierTables(store);
  const secret = await createSetUpLink(store, email);
  return setUpUrl(config.publicUrl ?? `http://${config.host}:${config.port}`, secret);
}
