import type { IntegrationId } from '../domain/ids.ts';
import { memberState } from '../store/queries/accounts.ts';
import { lockForAdmission } from '../store/queries/locks.ts';
import type { Tx } from '../store/store.ts';

/** The facts have changed between their read and the writes: the transaction is repeated. */
export class FactsChanged extends Error {
  override readonly name = 'FactsChanged';
}

/** Runs in the transaction that announces new bytes. Throws `FactsChanged` if the member was deleted. */
export async function checkMember(tx: Tx, integrationId: IntegrationId, consumerId: string | null): Promise<void> {
  await tx.all(lockForAdmission, { integrationId, consumerId });
  if (consumerId === null || (await tx.all(memberState, { integrationId, consumerId })).length > 0) return;
  throw new FactsChanged('The member was deleted.');
}
