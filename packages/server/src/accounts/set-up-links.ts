import { StartRefused } from '../domain/start-refused.ts';
import { firstOwner, lockInstallation, ownerByEmail } from '../store/queries/accounts.ts';
import { passwordOf, putSetUpLink, setUpLinkOf } from '../store/queries/sign-in.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import { newSecretValue, secretValueHash } from './secret-value.ts';

const LINK_MS = 86_400_000;

/** The address that a person opens to set the own e-mail and password. The fragment is never sent to a server. */
export const setUpUrl = (base: string, secret: string): string => `${base}/console/#set_up=${secret}`;

/** Makes a link of this owner. It is valid after `store`, which ends the earlier link. */
export function newSetUpLink(ownerId: string, expiresAt: number | null = Date.now() + LINK_MS) {
  const secret = newSecretValue();
  const row = { ownerId, secretHash: secretValueHash(secret), now: Date.now(), expiresAt };
  return { secret, store: (tx: Tx) => tx.run(putSetUpLink, row) };
}

/**
 * Makes the link of the first owner if that owner has neither a password nor a link, and resolves to its secret. The link
 * is valid until it is used. Call it after the server listens, because only then does a person see the link.
 */
export async function firstSetUpLink(store: Store): Promise<string | null> {
  const owner = await first(store.reads.all(firstOwner, {}));
  if (owner === undefined) return null;
  const ownerId = owner.owner_id;
  const isSetUp = async (reads: Pick<Store['reads'], 'all'>) =>
    (await reads.all(passwordOf, { ownerId })).length + (await reads.all(setUpLinkOf, { ownerId })).length > 0;
  if (await isSetUp(store.reads)) return null;
  const link = newSetUpLink(ownerId, null);
  return store.transact('account', async (tx) => {
    await tx.all(lockInstallation, {});
    // If several nodes start concurrently, one of them makes the link.
    if (await isSetUp(tx)) return null;
    await link.store(tx);
    return link.secret;
  });
}

/** For a command beside the server. Without an e-mail it makes a link of the first owner. Resolves to the secret. */
export async function createSetUpLink(store: Store, email: string | null): Promise<string> {
  const owner = await first(
    email === null
      ? store.reads.all(firstOwner, {})
      : store.reads.all(ownerByEmail, { email: email.trim().toLowerCase() }),
  );
  if (owner === undefined) {
    const sentence =
      email === null
        ? 'The installation has no owner yet; start the server once first.'
        : `No owner has the e-mail ${email}; check it, or create the owner with POST /v2/owners.`;
    throw new StartRefused(sentence);
  }
  const link = newSetUpLink(owner.owner_id);
  await store.transact('account', link.store);
  return link.secret;
}
