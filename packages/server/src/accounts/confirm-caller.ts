import type { Principal } from '../domain/account/principal.ts';
import type { Role } from '../domain/account/role.ts';
import { refuseBelow } from '../domain/account/role-refusals.ts';
import { keyById, ownerById } from '../store/queries/accounts.ts';
import { sessionById } from '../store/queries/sign-in.ts';
import { first, type Tx } from '../store/store.ts';
import { consoleRefused, keyRefused } from './authenticate.ts';
import { isSessionId } from './session-life.ts';

/**
 * Checks a caller again, in the transaction that changes accounts. Nodes use what they know about a caller for up to 5 s, and a
 * person who was removed or lowered must not make a key or another person in that time.
 */
export async function confirmCaller(tx: Tx, { ownerId, key }: Principal, needed: Role): Promise<void> {
  if ((await tx.all(ownerById, { ownerId })).length === 0) throw keyRefused('invalid');
  if (key.keyId === null) return;
  if (isSessionId(key.keyId)) {
    const session = await first(tx.all(sessionById, { sessionId: key.keyId }));
    if (session === undefined) throw consoleRefused('ended');
    return refuseBelow(session.role, needed);
  }
  const row = await first(tx.all(keyById, { keyId: key.keyId }));
  if (row === undefined || row.revoked_at !== null) throw keyRefused('revoked');
  // The role of a key never changes.
}
