import type { Caller } from '../domain/account/caller.ts';
import type { Principal } from '../domain/account/principal.ts';
import { refuseOutside } from '../domain/account/role-refusals.ts';
import type { Scope } from '../domain/account/scope.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { integrationById } from '../store/queries/accounts.ts';
import { first, type Reads, type Tx } from '../store/store.ts';
import type { AccountCache } from './account-cache.ts';
import type { AccountChanges } from './accounts-version.ts';

/**
 * The only place that decides who owns an integration. An unknown integration is `integration_not_found`, one of
 * another owner `integration_forbidden`, also for the administrator.
 */
export class IntegrationOwnership {
  readonly #reads: Reads;
  readonly #owners: AccountCache<string>;

  constructor(reads: Reads, changes: AccountChanges) {
    this.#reads = reads;
    this.#owners = changes.cache(10_000);
  }

  /** Returns what the integration's caller sees. */
  async scope({ principal, clientToken }: Caller, integrationId: string): Promise<Scope> {
    refuseOutside(principal, integrationId);
    const ownerId = await this.#owners.get(integrationId, () => readOwner(this.#reads, integrationId));
    refuseForeign(principal, ownerId);
    return { integrationId: integrationId as IntegrationId, member: clientToken };
  }
}

async function readOwner(reads: Reads, integrationId: string): Promise<string> {
  const row = await first(reads.all(integrationById, { integrationId }));
  if (row === undefined) throw new Refusal('integration_not_found');
  return row.owner_id;
}

function refuseForeign(principal: Principal, ownerId: string): void {
  if (ownerId !== principal.ownerId) throw new Refusal('integration_forbidden');
}

/** Checks integrations that a body names, in the transaction that uses them. */
export async function requireOwned(tx: Tx, principal: Principal, integrationIds: readonly string[]): Promise<void> {
  for (const integrationId of integrationIds) refuseForeign(principal, await readOwner(tx, integrationId));
}
