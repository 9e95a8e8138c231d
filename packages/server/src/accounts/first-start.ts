import { sortableId } from '@runwire/lib/sortable-id.ts';
import type { Agencies } from '../agencies/agencies.ts';
import { newIntegrationId, newOwnerId } from '../domain/ids.ts';
import {
  anyKey,
  insertInstallation,
  insertIntegration,
  insertOwner,
  installation,
  lockInstallation,
} from '../store/queries/accounts.ts';
import { insertPerson } from '../store/queries/people.ts';
import { first, type Store, UniqueViolation } from '../store/store.ts';
import { firstPerson } from './first-person.ts';
import { DEMO_AGENCY, INTEGRATION_DEFAULTS } from './integrations.ts';
import type { KeySigning } from './key-signing.ts';
import { signKeyOfFirstOwner } from './keys.ts';

export const DEMO_INTEGRATION = 'demo';

/**
 * Makes the first owner, the integration `demo` and, if an agency has the name `wanted`, an integration of that name: all
 * or nothing. Resolves to the integration to try first, or to null if an earlier start made them.
 */
export async function firstStart(store: Store, agencies: Agencies, wanted: string | null): Promise<string | null> {
  if ((await first(store.reads.all(installation, {}))) !== undefined) return null;
  const own = wanted === null || agencies.defaultAgent(wanted) === null ? DEMO_INTEGRATION : wanted;
  const ownerId = newOwnerId();
  const now = Date.now();
  const made = store.transact('account', async (tx) => {
    await tx.run(insertInstallation, { created_at: now });
    await tx.run(insertOwner, { owner_id: ownerId, email: null, name_json: null, administrator: 1, created_at: now });
    await tx.run(insertPerson, firstPerson({ ownerId, email: null, name_json: null, now }));
    for (const agency of new Set([DEMO_AGENCY, own])) {
      await tx.run(insertIntegration, {
        integration_id: newIntegrationId(agency === DEMO_AGENCY ? DEMO_INTEGRATION : agency),
        sort_key: sortableId(now),
        owner_id: ownerId,
        ...INTEGRATION_DEFAULTS,
        name_json: JSON.stringify(agency === DEMO_AGENCY ? 'Demo' : agency),
        agency,
        default_agent: agencies.defaultAgent(agency) ?? '',
        created_at: now,
      });
    }
  });
  try {
    await made;
    return own;
  } catch (error) {
    // Another node was first.
    if (error instanceof UniqueViolation) return null;
    throw error;
  }
}

/**
 * Makes the first owner's first key if no key was ever made. Call it after the server listens: if the start failed
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
