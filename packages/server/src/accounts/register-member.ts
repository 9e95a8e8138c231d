import { sortableId } from '@runwire/lib/sortable-id.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { insertMember } from '../store/queries/accounts.ts';
import { refusedPerson } from '../store/queries/erasures.ts';
import { first, type Tx } from '../store/store.ts';

/** Registers a member without settings, in the transaction that admits its first run. Idempotent. */
export async function registerMember(
  tx: Tx,
  integrationId: IntegrationId,
  consumerId: string,
  now: number,
): Promise<void> {
  await tx.run(insertMember, {
    integration_id: integrationId,
    consumer_id: consumerId,
    sort_key: sortableId(now),
    name_json: null,
    active: 1,
    metadata_json: '{}',
    own_limit: null,
    updated_at: now,
  });
  // Only now: an erasure may have begun while the insert waited.
  const refused = await first(tx.all(refusedPerson, { integrationId, consumerId }));
  if (refused !== undefined) throw new Refusal('erasure_running');
}
