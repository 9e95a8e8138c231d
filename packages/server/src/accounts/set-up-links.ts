import type { OwnerId } from '../domain/ids.ts';
import { StartRefused } from '../domain/start-refused.ts';
import { firstOwner, lockInstallation, ownerByEmail } from '../store/queries/accounts.ts';
import { getPassword, getSetUpLink, putSetUpLink } from '../store/queries/sign-in.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import { newSecretValue, secretValueHash } from './secret-value.ts';

const LINK_MS = 86_400_000;

type Reads = Pick<Store['reads'], 'all'>;

/** The address that a person opens to set the own e-mail and password. The fragment is never sent to a server. */
export const setUpUrl = (base: string, secret: string): string => `${base}/console/#set_up=${secret}`;

/** Makes a link of this owner. It is valid after `store`, which ends the earlier link. */
export function newSetUpLink(ownerId: OwnerId, expiresAt: number | null = Date.now() + LINK_MS) {
  const secret = newSecretValue();
  const row = { ownerId, secretHash: secretValueHash(secret), now: Date.now(), expiresAt };
  return { secret, store: (tx: Tx) => tx.run(putSetUpLink, row) };
}

export interface FirstSetUp {
  /** True if the first owner has no password yet. */
  readonly isOpen: boolean;
  /** The secret of the link that this start made; null if it made none. */
  readonly secret: string | null;
}

/**
 * Makes the first owner's link if that owner has neither a password nor a link. The link is valid until it is used. A
 * link that exists is not replaced: the person may have it from another node. Call it after the server listens, because
 * only then does a person see the link.
 */
export async function firstSetUpLink(store: Store): Promise<FirstSetUp> {
  const owner = await first(store.reads.all(firstOwner, {}));
  if (owner === undefined) return { isOpen: false, secret: null };
  const ownerId = owner.owner_id;
  const hasPassword = async (reads: Reads) => (await reads.all(getPassword, { ownerId })).length > 0;
  const hasLink = async (reads: Reads) => (await reads.all(getSetUpLink, { ownerId })).length > 0;
  if (await hasPassword(store.reads)) return { isOpen: false, secret: null };
  if (await hasLink(store.reads)) return { isOpen: true, secret: null };
  const link = newSetUpLink(ownerId, null);
  return store.transact('account', async (tx) => {
    await tx.all(lockInstallation, {});
    if (await hasPassword(tx)) return { isOpen: false, secret: null };
    // If several nodes start concurrently, one of them makes the link.
    if (await hasLink(tx)) return { isOpen: true, secret: null };
    await link.store(tx);
    return { isOpen: true, secret: link.secret };
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
