import type { Agencies } from '../agencies/agencies.ts';
import { newId } from '../domain/ids.ts';
import { sortableId } from '../lib/sortable-id.ts';
import {
  anyKey,
  insertInstallation,
  insertIntegration,
  insertOwner,
  installation,
  lockInstallation,
} from '../store/queries/accounts.ts';
import { first, type Store, UniqueViolation } from '../store/store.ts';
import { DEMO_AGENCY, INTEGRATION_DEFAULTS } from './integrations.ts';
import type { KeySigning } from './key-signing.ts';
import { signKeyOfFirstOwner } from './keys.ts';

export const DEMO_INTEGRATION = 'demo';

/** Makes the first owner and the integration `demo`, both or nothing. Resolves to true if they did not exist. */
export async function firstStart(store: Store, agencies: Agencies): Promise<boolean> {
  if ((await first(store.reads.all(installation, {}))) !== undefined) return false;
  const ownerId = newId('own');
  const now = Date.now();
  const made = store.transact('account', async (tx) => {
    await tx.run(insertInstallation, { now });
    await tx.run(insertOwner, { ownerId, email: null, nameJson: null, administrator: 1, now });
    await tx.run(insertIntegration, {
      integrationId: DEMO_INTEGRATION,
      sortKey: sortableId(now),
      ownerId,
      ...INTEGRATION_DEFAULTS,
      name_json: JSON.stringify('Demo'),
      default_agent: agencies.defaultAgent(DEMO_AGENCY) ?? '',
      now,
    });
  });
  try {
    await made;
    return true;
  } catch (error) {
    // Another node was first.
    if (error instanceof UniqueViolation) return false;
    throw error;
  }
}

/**
 * Makes the first key of the first owner if no key was ever made. Call it after the server listens: if the start failed
 * before, for example on a port in use, no person would have seen the key.
 */
export async function firstKey(store: Store, signing: KeySigning): Promise<string | null> {
  if ((await store.reads.all(anyKey, {})).length > 0) return null;
  const key = await signKeyOfFirstOwner(store, signing, 'first');
  return store.transact('account', async (tx) => {
    await tx.all(lockInstallation, {});
    // If several nodes start concurrently, one of them makes the key.
    if ((await tx.all(anyKey, {})).length > 0) return null;
    await key.store(tx);
    return key.apiKey;
  });
}
