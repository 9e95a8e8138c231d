import type { OwnerId, PersonId } from '../domain/ids.ts';
import { StartRefused } from '../domain/start-refused.ts';
import { firstOwner, lockInstallation } from '../store/queries/accounts.ts';
import { findManagerIds, personByEmail } from '../store/queries/people.ts';
import { anyPassword, getSetUpLink, putSetUpLink } from '../store/queries/sign-in.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import { newSecretValue, secretValueHash } from './secret-value.ts';
import { storedEmail } from './stored-email.ts';

const LINK_MS = 86_400_000;

type Reads = Pick<Store['reads'], 'all'>;

/** The address that a person opens to set the own e-mail and password. The fragment is never sent to a server. */
export const setUpUrl = (base: string, secret: string): string => `${base}/console/#set_up=${secret}`;

/** Makes a link of this person. It is valid after `store`, which ends the earlier link. */
export function newSetUpLink(personId: PersonId, expiresAt: number | null = Date.now() + LINK_MS) {
  const secret = newSecretValue();
  const row = { personId, secretHash: secretValueHash(secret), now: Date.now(), expiresAt };
  return { secret, store: (tx: Tx) => tx.run(putSetUpLink, row) };
}

export interface FirstSetUp {
  /** True if no person of the first owner has a password yet. */
  readonly isOpen: boolean;
  /** The secret of the link that this start made; null if it made none. */
  readonly secret: string | null;
}

/**
 * Makes a link of the first owner's first manager if no person of the owner has a password and the manager has no link. The link is valid until it is used. A
 * link that exists is not replaced: the person may have it from another node. Call it after the server listens, because
 * only then does a person see the link.
 */
export async function firstSetUpLink(store: Store): Promise<FirstSetUp> {
  const owner = await first(store.reads.all(firstOwner, {}));
  if (owner === undefined) return { isOpen: false, secret: null };
  const ownerId = owner.owner_id;
  const personId = await firstManager(store.reads, ownerId);
  const hasPassword = async (reads: Reads) => (await reads.all(anyPassword, { ownerId })).length > 0;
  const hasLink = async (reads: Reads) => (await reads.all(getSetUpLink, { personId })).length > 0;
  if (await hasPassword(store.reads)) return { isOpen: false, secret: null };
  if (await hasLink(store.reads)) return { isOpen: true, secret: null };
  const link = newSetUpLink(personId, null);
  return store.transact('account', async (tx) => {
    await tx.all(lockInstallation, {});
    if (await hasPassword(tx)) return { isOpen: false, secret: null };
    // If several nodes start concurrently, one of them makes the link.
    if (await hasLink(tx)) return { isOpen: true, secret: null };
    await link.store(tx);
    return { isOpen: true, secret: link.secret };
  });
}

/** For a command beside the server. Without an e-mail it makes a link of the first owner's first manager. Resolves to the secret. */
export async function createSetUpLink(store: Store, email: string | null): Promise<string> {
  const link = newSetUpLink(await findPerson(store.reads, email));
  await store.transact('account', link.store);
  return link.secret;
}

async function findPerson(reads: Reads, email: string | null): Promise<PersonId> {
  if (email !== null) {
    const person = await first(reads.all(personByEmail, { email: storedEmail(email.trim()) }));
    if (person !== undefined) return person.person_id;
    throw new StartRefused(`No person has the e-mail ${email}; check it, or invite the person with POST /v2/people.`);
  }
  const owner = await first(reads.all(firstOwner, {}));
  if (owner !== undefined) return firstManager(reads, owner.owner_id);
  throw new StartRefused('The installation has no owner yet; start the server once first.');
}

/** Every owner has a manager. */
async function firstManager(reads: Reads, ownerId: OwnerId): Promise<PersonId> {
  const person = await first(reads.all(findManagerIds, { ownerId }));
  if (person === undefined) throw new StartRefused('The first owner has no manager; restore a backup.');
  return person.person_id;
}
