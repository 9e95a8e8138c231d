import type { Agencies } from '../agencies/agencies.ts';
import { newId } from '../domain/ids.ts';
import { insertInstallation, insertIntegration, insertOwner, installation } from '../store/queries/accounts.ts';
import { first, type Store } from '../store/store.ts';
import { DEMO_AGENCY } from './integrations.ts';
import type { KeySigning } from './key-signing.ts';
import { signKey } from './keys.ts';

export const DEMO_INTEGRATION = 'demo';

/**
 * Makes the first owner, one key and the integration `demo`, all or nothing. Resolves to the key, or to null where
 * there is none to show: the installation was there before, or its key stands in `RUNWIRE_API_KEY`.
 */
export async function firstStart(
  store: Store,
  agencies: Agencies,
  signing: KeySigning,
  hasOpaqueKey: boolean,
): Promise<{ readonly isFirst: boolean; readonly apiKey: string | null }> {
  if ((await first(store.reads.all(installation, {}))) !== undefined) return { isFirst: false, apiKey: null };
  const ownerId = newId('own');
  const key = hasOpaqueKey ? null : await signKey(signing, { ownerId, name: 'first', expiresAt: null });
  const now = Date.now();
  await store.transact('account', async (tx) => {
    await tx.run(insertInstallation, { now });
    await tx.run(insertOwner, { ownerId, email: null, nameJson: null, administrator: 1, now });
    await tx.run(insertIntegration, {
      integrationId: DEMO_INTEGRATION,
      ownerId,
      nameJson: JSON.stringify('Demo'),
      agency: DEMO_AGENCY,
      defaultAgent: agencies.defaultAgent(DEMO_AGENCY) ?? '',
      textOnly: 0,
      allowanceUnit: null,
      allowanceLimit: null,
      allowancePeriod: null,
      onDisconnect: 'continue',
      maxRunSeconds: 900,
      maxRunsPerMember: null,
      keepAttachments: 1,
      now,
    });
    await key?.store(tx);
  });
  return { isFirst: true, apiKey: key?.apiKey ?? null };
}
