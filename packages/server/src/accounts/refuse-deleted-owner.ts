import type { Principal } from '../domain/account/principal.ts';
import { ownerById } from '../store/queries/accounts.ts';
import type { Tx } from '../store/store.ts';
import { keyRefused } from './authenticate.ts';

/** The owner may have been deleted after the request was authenticated. Nothing may be created for it then. */
export async function refuseDeletedOwner(tx: Tx, { ownerId }: Principal): Promise<void> {
  if ((await tx.all(ownerById, { ownerId })).length === 0) throw keyRefused('invalid');
}
