import { Refusal } from '../domain/refusal.ts';
import { LruCache } from '../lib/lru-cache.ts';
import { integrationById } from '../store/queries/accounts.ts';
import { first, type Reads } from '../store/store.ts';
import type { Principal } from './principal.ts';

/**
 * The one place that says whose an integration is: "unknown is 404 `integration_not_found`, another owner's is 403
 * `integration_forbidden`, for the administrator too".
 */
export class IntegrationOwnership {
  readonly #reads: Reads;
  readonly #owners = new LruCache<string, string>(10_000);

  constructor(reads: Reads) {
    this.#reads = reads;
  }

  forget(): void {
    this.#owners.clear();
  }

  async check(principal: Principal, integrationId: string): Promise<void> {
    let ownerId = this.#owners.get(integrationId);
    if (ownerId === undefined) {
      const row = await first(this.#reads.all(integrationById, { integrationId }));
      if (row === undefined) throw new Refusal('integration_not_found');
      ownerId = row.owner_id;
      this.#owners.set(integrationId, ownerId);
    }
    if (ownerId !== principal.ownerId) throw new Refusal('integration_forbidden');
  }
}
