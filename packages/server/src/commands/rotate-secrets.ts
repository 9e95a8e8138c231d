import { KeySigning } from '../accounts/key-signing.ts';
import { createKeyOfFirstOwner } from '../accounts/keys.ts';
import { openStoreHere } from '../compose/open-store.ts';
import type { Config, Secrets } from '../config/config.ts';
import { rotateUploadSecret } from '../files/upload-secrets.ts';

/** Creates a key of the first owner. Running servers accept it immediately. */
export async function createKeyHere(config: Config, secrets: Secrets, name: string): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const { store, secret } = await openStoreHere(config, secrets, stack);
  return await createKeyOfFirstOwner(store, new KeySigning(secret), name);
}

/** Resolves to the number of the new secret that signs upload forms. Running servers use it immediately. */
export async function rotateUploadsHere(config: Config, secrets: Secrets): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const { store } = await openStoreHere(config, secrets, stack);
  return await rotateUploadSecret(store);
}
