import type { Principal } from '../domain/principal.ts';
import { Refusal } from '../domain/refusal.ts';
import { integrationById } from '../store/queries/accounts.ts';
import { first, type Reads } from '../store/store.ts';
import type { AccountCache } from './account-cache.ts';
import type { AccountChanges } from './accounts-version.ts';

/**
 * The one place that says whose an integration is: "unknown is 404 `integration_not_found`, another owner's is 403
 * `integration_forbidden`, for the administrator too".
 */
export class IntegrationOwnership {
  readonly #reads: Reads;
  readonly #owners: AccountCache<string>;

  constructor(reads: Reads, changes: AccountChanges) {
    this.#reads = reads;
    this.#owners = changes.cache(10_000);
  }

  async check(principal: Principal, integrationId: string): Promise<void> {
    const ownerId = await this.#owners.get(integrationId, async () => {
      const row = await first(this.#reads.all(integrationById, { integrationId }));
      if (row === undefined) throw new Refusal('integration_not_found');
      return row.owner_id;
    });
    if (ownerId !== principal.ownerId) throw new Refusal('integration_forbidden');
  }
}
