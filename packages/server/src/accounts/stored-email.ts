import type { OwnerId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { ownerByEmail } from '../store/queries/accounts.ts';
import { first, type Tx } from '../store/store.ts';

/** E-mails are compared regardless of letter case. */
export const storedEmail = (email: string): string => email.toLowerCase();

/** Throws a `Refusal` if an owner other than this one has the e-mail. Call it in a change of accounts. */
export async function refuseTaken(tx: Tx, email: string, ownerId: OwnerId): Promise<void> {
  const holder = await first(tx.all(ownerByEmail, { email }));
  if (holder !== undefined && holder.owner_id !== ownerId) throw new Refusal('owner_exists');
}
